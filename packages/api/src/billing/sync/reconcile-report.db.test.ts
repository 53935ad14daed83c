import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { App } from '../../app.ts';
import type { Principal } from '../../auth/principal.ts';
import { readPlan } from '../../organisations/plan.ts';
import {
  organisationPlans,
  paymentCheckouts,
  paymentCustomers,
  paymentEvents,
  paymentSubscriptions,
} from '../../platform/db/schema/billing.ts';
import type { Ask } from '../../platform/providers/payment/connection.ts';
import { makeMember, makeSecond, makeSubscriber } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { reconcileAll } from './reconcile.ts';

const billing = useBillingTest();
const provider = () => billing.sandbox.payment;
const plan = async (principal: Principal) => readPlan(billing.app, principal.organisationId ?? '');

function cardOf(customer: string): string {
  const cards = Object.values(provider().state().payment_methods);
  return cards.find((card) => card.customer === customer)?.id ?? '';
}

describe('the report names', () => {
  test('several live subscriptions, unmapped prices, unknown organisations and dead customers', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const second = await makeSecond(billing, subscription.customer, 'gold');
    const ask = billing.app.payment?.ask;
    if (ask === undefined) throw new Error('billing is off');
    const odd = await ask((api) =>
      api.prices.create({
        product_data: { name: 'Odd' },
        currency: 'gbp',
        unit_amount: 5,
        recurring: { interval: 'month' },
      }),
    );
    await ask((api) =>
      api.subscriptions.update(second.id, { items: [{ id: second.items.data[0]?.id ?? '', price: odd.id }] }),
    );
    const foreign = await ask((api) => api.customers.create({ payment_method: 'pm_card_visa' }));
    const lost = await ask((api) =>
      api.subscriptions.create({
        customer: foreign.id,
        default_payment_method: cardOf(foreign.id),
        items: [{ price: odd.id }],
        metadata: { organisation: 'an-organisation-that-left' },
      }),
    );
    const dead = await makeSubscriber(billing);
    await ask((api) => api.customers.del(String(dead.subscription.customer)));
    await billing.settled();

    const report = await reconcileAll(billing.app);
    const organisation = principal.organisationId;
    expect(report.severalLive).toContainEqual({
      organisation,
      subscriptions: expect.arrayContaining([subscription.id, second.id]),
    });
    expect(report.unmappedPrices).toContainEqual({ subscription: second.id, price: odd.id, tier: null });
    expect(report.unknownOrganisations).toEqual([{ subscription: lost.id, organisation: 'an-organisation-that-left' }]);
    expect(report.deletedCustomers).toContainEqual({
      organisation: dead.principal.organisationId,
      customer: dead.subscription.customer,
    });
    expect((await plan(principal)).tier).toBe('silver');
  });
});

describe('a customer that was created after the backup from which the database was restored', () => {
  /** Removes what the database would not hold. */
  async function restore({ organisationId }: Principal): Promise<void> {
    const id = organisationId ?? '';
    for (const table of [paymentSubscriptions, paymentCheckouts, paymentCustomers, organisationPlans])
      await billing.app.db.delete(table).where(eq(table.organisationId, id));
  }

  test('is found again with its plan, which could be bought a second time', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await restore(principal);
    expect((await plan(principal)).tier).toBe('free');

    const report = await reconcileAll(billing.app);
    expect(report.repaired).toContain(subscription.id);
    expect(report.unknownOrganisations.map((each) => each.subscription)).not.toContain(subscription.id);
    expect((await plan(principal)).tier).toBe('silver');
  });

  test('is found for all subscriptions of the organisation', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const second = await makeSecond(billing, subscription.customer, 'gold');
    await billing.settled();
    for (const { id } of [subscription, second]) {
      const found = provider().state().subscriptions[id];
      if (found !== undefined) found.metadata = { ...found.metadata, organisation: principal.organisationId };
    }
    await restore(principal);

    const report = await reconcileAll(billing.app);
    expect(report.repaired).toEqual(expect.arrayContaining([subscription.id, second.id]));
    const unknown = report.unknownOrganisations.map((each) => each.subscription);
    expect(unknown.filter((id) => [subscription.id, second.id].includes(id))).toEqual([]);
  });

  /** An App whose requests for a customer the provider answers by 503, before it looks for a saved answer. */
  function withoutCustomers(): App {
    const { payment } = billing.app;
    if (payment === null) throw new Error('billing is off');
    provider().failNext(503, { only: 'POST /v1/prices', count: 9 });
    const ask: Ask = (work) =>
      payment.ask((api) => {
        const create = () => api.prices.create({ currency: 'gbp' });
        return work(Object.assign(Object.create(api), { customers: { create } }));
      });
    return { ...billing.app, payment: { ...payment, ask } };
  }

  test('is found by the next comparison if the provider fails during the first', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await restore(principal);

    const failed = await reconcileAll(withoutCustomers());
    expect(failed.leftOut.map((each) => each.subscription)).toContain(subscription.id);
    expect(failed.unknownOrganisations.map((each) => each.subscription)).not.toContain(subscription.id);

    provider().resetSwitches();
    expect((await reconcileAll(billing.app)).repaired).toContain(subscription.id);
    expect((await plan(principal)).tier).toBe('silver');
  });

  test('is not taken from the metadata of another customer', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const victim = await makeMember(billing);
    await restore(principal);
    const found = provider().state().subscriptions[subscription.id];
    if (found !== undefined) found.metadata = { ...found.metadata, organisation: victim.organisationId };

    const claim = { subscription: subscription.id, organisation: victim.organisationId };
    for (const report of [await reconcileAll(billing.app), await reconcileAll(billing.app)]) {
      expect(report.unknownOrganisations).toContainEqual(claim);
    }
    expect((await plan(victim)).tier).toBe('free');
  });
});

test('the event store holds each of the provider’s events once', async () => {
  const stored = await billing.app.db.select({ id: paymentEvents.id }).from(paymentEvents);
  expect(new Set(stored.map(({ id }) => id)).size).toBe(stored.length);
});
