import { type Ask, providerErrorOf } from './connection.ts';

type Sdk = Parameters<Parameters<Ask>[0]>[0];

/** What a restricted key has to be permitted, as the provider's dashboard names it. `Write` includes `Read`. */
export type Permission = {
  resource: string;
  level: 'Read' | 'Write';
  /** What alone needs it; without it everything does. */
  only?: 'billing-setup' | 'disputes' | 'doctor' | 'tax' | 'pages';
  /**
   * Asks what only a key with the permission may ask, and changes nothing: what it would change does not exist. A key
   * without the permission is refused before the object is looked for.
   */
  probe: (provider: Sdk) => Promise<unknown>;
};

/** The id of no object. */
const none = 'gatehouse_doctor';

/** All that billing asks of the provider. docs/payment.md has the same as a table. */
export const permissions: Permission[] = [
  { resource: 'Customers', level: 'Write', probe: (provider) => provider.customers.update(none, {}) },
  { resource: 'Checkout Sessions', level: 'Write', probe: (provider) => provider.checkout.sessions.expire(none) },
  { resource: 'Subscriptions', level: 'Write', probe: (provider) => provider.subscriptions.update(none, {}) },
  {
    resource: 'Subscription Schedules',
    level: 'Write',
    probe: (provider) => provider.subscriptionSchedules.release(none),
  },
  { resource: 'Invoices', level: 'Write', probe: (provider) => provider.invoices.pay(none) },
  {
    resource: 'Customer portal',
    level: 'Write',
    probe: (provider) => provider.billingPortal.sessions.create({ customer: none }),
  },
  { resource: 'Coupons', level: 'Read', only: 'pages', probe: (provider) => provider.coupons.retrieve(none) },
  {
    resource: 'Payment Methods',
    level: 'Read',
    only: 'pages',
    probe: (provider) => provider.paymentMethods.retrieve(none),
  },
  { resource: 'Products', level: 'Read', probe: (provider) => provider.products.list({ limit: 1 }) },
  {
    resource: 'Products',
    level: 'Write',
    only: 'billing-setup',
    probe: (provider) => provider.products.update(none, {}),
  },
  { resource: 'Prices', level: 'Read', probe: (provider) => provider.prices.list({ limit: 1 }) },
  { resource: 'Prices', level: 'Write', only: 'billing-setup', probe: (provider) => provider.prices.update(none, {}) },
  { resource: 'Disputes', level: 'Read', only: 'disputes', probe: (provider) => provider.disputes.list({ limit: 1 }) },
  {
    resource: 'Tax settings and registrations',
    level: 'Read',
    only: 'tax',
    probe: (provider) => provider.tax.settings.retrieve(),
  },
  { resource: 'Events', level: 'Read', probe: (provider) => provider.events.list({ limit: 1 }) },
  { resource: 'Webhook Endpoints', level: 'Read', probe: (provider) => provider.webhookEndpoints.list({ limit: 1 }) },
  {
    resource: 'Webhook Endpoints',
    level: 'Write',
    only: 'billing-setup',
    probe: (provider) => provider.webhookEndpoints.update(none, {}),
  },
  {
    resource: 'Event Destinations',
    level: 'Read',
    only: 'doctor',
    probe: (provider) => provider.v2.core.eventDestinations.list(),
  },
];

/**
 * Returns the permissions that a restricted key lacks.
 *
 * @throws AppError PROVIDER_UNAVAILABLE if the provider does not answer, or refuses the key.
 */
export async function missingPermissions(ask: Ask): Promise<Permission[]> {
  const missing: Permission[] = [];
  for (const permission of permissions) {
    try {
      await ask(permission.probe);
    } catch (error) {
      const status = providerErrorOf(error)?.status;
      if (status === 403) missing.push(permission);
      else if (status !== 400 && status !== 404) throw error;
    }
  }
  return missing;
}
