import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../app.ts';
import { readSubscriptionState } from '../platform/providers/payment/subscription-state.ts';
import { type BillingTest, makeMember, ownedBy, startBillingTest } from '../testing/billing.ts';
import { failingAt } from '../testing/database/failing-database.ts';
import { deliver, makeEvent } from '../testing/payment/payment-events.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { storeAnswer } from './sync/store-answer.ts';

let billing: BillingTest;
beforeAll(async () => {
  billing = await startBillingTest({ work: false });
  billing.sandbox.payment.set({ drop_deliveries: true });
});
afterAll(() => {
  billing.logged.length = 0;
  return billing.close();
});

/** A hash per table of all of billing's rows and the jobs that it enqueued. */
async function everything(): Promise<Record<string, string>> {
  const tables = await billing.app.sql`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_name like 'payment\\_%' or (table_schema = 'pgboss' and table_name = 'job') order by 1`;
  const hashes: Record<string, string> = {};
  for (const { name } of tables) {
    const rows = await billing.app.sql.unsafe(`select * from ${name} order by 1, 2`);
    hashes[name] = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
  }
  return hashes;
}

/** Crashes at each step in turn until the work succeeds: a failure has stored nothing, the success something. */
async function crashEverywhere(act: (app: App) => Promise<unknown>): Promise<number> {
  const before = await everything();
  for (let step = 1; step < 40; step++) {
    const failed = await act(failingAt(billing.app, step)).then(
      () => false,
      () => true,
    );
    if (!failed) {
      expect(await everything()).not.toEqual(before);
      return step - 1;
    }
    expect(await everything(), `after a crash at step ${step}`).toEqual(before);
  }
  throw new Error('It never went through.');
}

async function subscriber() {
  const principal = await makeMember(billing);
  billing.sandbox.payment.payCheckout((await startCheckout(billing.app, principal, { tier: 'silver' })).url);
  const [subscription] = ownedBy(billing, principal).subscriptions;
  if (subscription === undefined) throw new Error('The checkout made no subscription.');
  return { principal, subscription };
}

const second = () => Math.floor(billing.app.now().getTime() / 1000);

describe('after a crash at any step everything or nothing is stored of', () => {
  test.each(['checkout.session.completed', 'checkout.session.expired', 'checkout.session.async_payment_failed'])(
    '%s',
    async (type) => {
      const { principal } = await subscriber();
      const [session] = ownedBy(billing, principal).sessions;
      const event = makeEvent(billing.app, type, session ?? {});
      expect(await crashEverywhere((app) => deliver(app, event))).toBeGreaterThan(2);
    },
  );

  test.each(['customer.subscription.updated', 'customer.subscription.deleted'])('%s', async (type) => {
    const { subscription } = await subscriber();
    const status = type.endsWith('deleted') ? 'canceled' : 'paused';
    const event = makeEvent(billing.app, type, { ...subscription, status }, { created: second() + 1 });
    expect(await crashEverywhere((app) => deliver(app, event))).toBeGreaterThan(4);
  });

  test.each(['invoice.paid', 'invoice.payment_failed', 'invoice.finalization_failed'])('%s', async (type) => {
    const { principal } = await subscriber();
    const [invoice] = ownedBy(billing, principal).invoices;
    const event = makeEvent(billing.app, type, invoice ?? {});
    expect(await crashEverywhere((app) => deliver(app, event))).toBeGreaterThan(2);
  });

  test('customer.deleted', async () => {
    const { subscription } = await subscriber();
    const event = makeEvent(billing.app, 'customer.deleted', { id: subscription.customer });
    expect(await crashEverywhere((app) => deliver(app, event))).toBeGreaterThan(2);
  });

  test('price.updated', async () => {
    const event = makeEvent(billing.app, 'price.updated', { id: 'price_n', lookup_key: 'silver_monthly' });
    expect(await crashEverywhere((app) => deliver(app, event))).toBeGreaterThan(2);
  });

  test('an event of a customer that is not ours', async () => {
    const object = { id: 'sub_x', customer: 'cus_x', status: 'active', metadata: { organisation: 'nobody' } };
    const event = makeEvent(billing.app, 'customer.subscription.created', object);
    expect(await crashEverywhere((app) => deliver(app, event))).toBeGreaterThan(1);
  });

  test('an answer of the provider', async () => {
    const { principal, subscription } = await subscriber();
    const state = readSubscriptionState(subscription);
    if (state === null) throw new Error('The subscription cannot be read.');
    const whose = { organisationId: principal.organisationId, customerId: String(subscription.customer) };
    expect(await crashEverywhere((app) => storeAnswer(app, whose, { state, at: second() }, null))).toBeGreaterThan(3);
  });
});
