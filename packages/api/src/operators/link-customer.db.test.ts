import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { requirePayment } from '../billing/actions/require-payment.ts';
import { setCancellation } from '../billing/actions/set-cancellation.ts';
import { startCheckout } from '../billing/actions/start-checkout.ts';
import { syncSubscription } from '../billing/sync/sync.ts';
import { readPlan } from '../organisations/plan.ts';
import { paymentCustomers, paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { makeMember, makeSubscriber, ownedBy, priceOf } from '../testing/billing.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { commandLine } from './actor.ts';
import { linkCustomer } from './link-customer.ts';

const billing = useBillingTest();
const ask: ReturnType<typeof requirePayment>['ask'] = (act) => requirePayment(billing.app).ask(act);
const link = (organisationId: string, customerId: string) =>
  linkCustomer(billing.app, { organisationId, customerId }, commandLine);
const refused = (sentence: RegExp) => ({ code: 'VALIDATION', message: expect.stringMatching(sentence) });

/** A customer who was there before, with a subscription of a price, made at the provider. */
async function makeEarlier({ price = priceOf(billing, 'silver'), metadata = {} } = {}) {
  const customer = await ask((provider) =>
    provider.customers.create({ name: 'Earlier', metadata, payment_method: 'pm_card_visa' }),
  );
  const { payment_methods } = billing.sandbox.payment.state();
  const method = Object.values(payment_methods).find((each) => each.customer === customer.id)?.id ?? '';
  const subscription = await ask((provider) =>
    provider.subscriptions.create({ customer: customer.id, items: [{ price }], default_payment_method: method }),
  );
  await billing.settled();
  return { customerId: customer.id, subscription };
}

test('gives the organisation the plan of its subscription, names it at the provider, and may be repeated', async () => {
  const { organisationId, ...principal } = await makeMember(billing);
  const { customerId, subscription } = await makeEarlier();
  const found = [{ id: subscription.id, status: 'active', tier: 'silver' }];
  expect(await link(organisationId, customerId)).toEqual(found);
  expect(await readPlan(billing.app, organisationId)).toMatchObject({ tier: 'silver', source: 'subscription' });
  expect(ownedBy(billing, { organisationId }).customers).toMatchObject([{ id: customerId }]);
  expect(await link(organisationId, customerId)).toEqual(found);

  // Its events are the organisation's from now on, and a checkout makes no second subscription.
  await setCancellation(billing.app, { ...principal, organisationId }, { cancel: true });
  expect(billing.sandbox.payment.state().subscriptions[subscription.id]?.cancel_at_period_end).toBe(true);
  billing.sandbox.payment.forceStatus(subscription.id, 'canceled');
  await billing.settled();
  expect((await readPlan(billing.app, organisationId)).tier).toBe('free');
});

test('takes the place of a customer of the organisation’s own, whose open checkout expires', async () => {
  const principal = await makeMember(billing);
  await startCheckout(billing.app, principal, { tier: 'gold' });
  const [own] = ownedBy(billing, principal).customers;
  const { customerId } = await makeEarlier();
  await link(principal.organisationId, customerId);
  const sessions = Object.values(billing.sandbox.payment.state().checkout_sessions);
  expect(sessions.filter((each) => each.customer === own?.id).map(({ status }) => status)).toEqual(['expired']);
  const [row] = await billing.app.db
    .select()
    .from(paymentCustomers)
    .where(eq(paymentCustomers.organisationId, principal.organisationId));
  expect(row).toMatchObject({ customerId, number: 2, goneAt: null });
});

describe('is refused', () => {
  test.each<[string, () => Promise<string>, RegExp]>([
    ['an unknown customer', async () => 'cus_unknown', /does not know cus_unknown/],
    [
      'a deleted customer',
      async () => {
        const { id } = await ask((provider) => provider.customers.create({}));
        await ask((provider) => provider.customers.del(id));
        return id;
      },
      /was deleted/,
    ],
    [
      'a customer that names another organisation',
      async () => (await makeEarlier({ metadata: { organisation: 'another' } })).customerId,
      /name another organisation: another/,
    ],
  ])('%s', async (_, make, sentence) => {
    const { organisationId } = await makeMember(billing);
    await expect(link(organisationId, await make())).rejects.toMatchObject(refused(sentence));
    expect((await readPlan(billing.app, organisationId)).tier).toBe('free');
  });

  test('a customer that another organisation has, also in parallel', async () => {
    const members = await Promise.all([makeMember(billing), makeMember(billing)]);
    const { customerId } = await makeEarlier();
    const both = await Promise.allSettled(members.map(({ organisationId }) => link(organisationId, customerId)));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const [failure] = both.filter((each) => each.status === 'rejected');
    expect(failure?.reason).toMatchObject(refused(/another organisation/));
  });

  test('an organisation with a live subscription of its own', async () => {
    const { principal } = await makeSubscriber(billing);
    const { customerId } = await makeEarlier();
    await expect(link(principal.organisationId, customerId)).rejects.toMatchObject(refused(/has a live subscription/));
  });
});

test('a negotiated price gives the tier that its metadata name, and other metadata decide anew', async () => {
  const { organisationId } = await makeMember(billing);
  const product = await ask((provider) => provider.products.create({ name: 'Contract' }));
  const price = await ask((provider) =>
    provider.prices.create({
      product: product.id,
      currency: 'gbp',
      unit_amount: 5500,
      recurring: { interval: 'month' },
      metadata: { tier: 'gold' },
    }),
  );
  const { customerId, subscription } = await makeEarlier({ price: price.id });
  expect(await link(organisationId, customerId)).toMatchObject([{ tier: 'gold' }]);

  await ask((provider) => provider.prices.update(price.id, { metadata: { tier: 'silver' } }));
  await billing.settled();
  const isTheirs = eq(paymentSubscriptions.id, subscription.id);
  const row = async () => (await billing.app.db.select().from(paymentSubscriptions).where(isTheirs))[0];
  // Marked until the next round, which a test does not wait for.
  await expect.poll(async () => (await row())?.needsSync || (await row())?.tier === 'silver').toBe(true);
  await syncSubscription(billing.app, subscription.id);
  expect(await readPlan(billing.app, organisationId)).toMatchObject({ tier: 'silver' });
});
