import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { permissions } from './permissions.ts';

const listed = permissions.map(
  ({ resource, level, only }) => `${resource} ${level}${only === 'billing-setup' ? ' for setup' : ''}`,
);

/** The rows of the table of permissions in docs/payment.md: "Products, Prices | Read; Write for `billing-setup`". */
function documented(): string[] {
  const text = readFileSync(new URL('../../../../../../docs/payment.md', import.meta.url), 'utf8');
  const [table = ''] = text.slice(text.indexOf('| Resource | Permission |')).split('\n\n');
  return table
    .split('\n')
    .slice(2)
    .flatMap((row) => {
      const [, resources = '', levels = ''] = row.split('|').map((cell) => cell.trim());
      const needed = levels.split('; ').map((level) => level.replace(' for `billing-setup`', ' for setup'));
      return resources.split(', ').flatMap((resource) => needed.map((level) => `${resource} ${level}`));
    });
}

test('the table of docs/payment.md holds the permissions that doctor asks for, and no other', () => {
  expect(documented().sort()).toEqual([...listed].sort());
});

/** The resource of each part of the SDK that is called. */
const resources: Record<string, string> = {
  'billingPortal.configurations': 'Customer portal',
  'billingPortal.sessions': 'Customer portal',
  'checkout.sessions': 'Checkout Sessions',
  customers: 'Customers',
  disputes: 'Disputes',
  events: 'Events',
  invoicePayments: 'Invoices',
  invoices: 'Invoices',
  paymentMethods: 'Payment Methods',
  prices: 'Prices',
  products: 'Products',
  subscriptionSchedules: 'Subscription Schedules',
  'tax.registrations': 'Tax settings and registrations',
  'tax.settings': 'Tax settings and registrations',
  subscriptions: 'Subscriptions',
  'v2.core.eventDestinations': 'Event Destinations',
  webhookEndpoints: 'Webhook Endpoints',
};

test('the permissions hold all that is called', () => {
  const folder = new URL('./', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !/test|permissions/.test(name));
  const calls = files.flatMap((name) =>
    [...readFileSync(new URL(name, folder), 'utf8').matchAll(/\b(?:provider|stripe)\.([\w.]+)\.(\w+)\(/g)].map(
      ([, part = '', verb]) => ({ part, level: verb === 'list' || verb === 'retrieve' ? 'Read' : 'Write' }),
    ),
  );
  expect(calls.length).toBeGreaterThan(30);
  for (const { part, level } of calls) {
    const resource = resources[part] ?? `none for ${part}`;
    const levels = permissions.filter((each) => each.resource === resource).map((each) => each.level);
    expect(levels.includes('Write') || levels.includes(level as 'Read'), `${resource}: ${level}`).toBe(true);
  }
});
