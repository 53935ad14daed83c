import { describe, expect, test } from 'vitest';
import { shownSubscription } from '../../operators/events/shown-subscription.ts';
import { readPlan } from '../../organisations/plan.ts';
import { makeSubscriber, ownedBy } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { startCheckout } from '../actions/start-checkout.ts';
import { decideAllPlans } from '../entitlement/decide-plan.ts';
import { readRow } from '../subscription/subscription-rows.ts';
import { readOverview } from '../summary/read-subscription.ts';
import { syncSubscription } from '../sync/sync.ts';

const billing = useBillingTest({ emptiesProvider: true, environment: { PAYMENT_DISPUTES: 'end' } });
const provider = () => billing.sandbox.payment;

type Subscriber = Awaited<ReturnType<typeof makeSubscriber>>;

async function tierOf({ principal }: Subscriber) {
  await billing.settled();
  return (await readPlan(billing.app, principal.organisationId)).tier;
}

const firstInvoice = ({ principal }: Subscriber) =>
  ownedBy(billing, principal).invoices.toSorted((one, other) => one.created - other.created)[0]?.id ?? '';

describe('with PAYMENT_DISPUTES=end', () => {
  test.each(['won', 'prevented'] as const)(
    'an open dispute gives no plan, and one that is %s gives it back',
    async (end) => {
      const subscriber = await makeSubscriber(billing);
      const { id } = provider().dispute(firstInvoice(subscriber));
      expect(await tierOf(subscriber)).toBe('free');
      provider().submitEvidence(id);
      expect(await tierOf(subscriber)).toBe('free');
      provider().closeDispute(id, end);
      expect(await tierOf(subscriber)).toBe('silver');
    },
  );

  test('a lost one gives none until a later invoice is paid, and does not come back with the next open one', async () => {
    const subscriber = await makeSubscriber(billing);
    const { id } = provider().dispute(firstInvoice(subscriber));
    provider().closeDispute(id, 'lost');
    expect(await tierOf(subscriber)).toBe('free');

    provider().clock.advanceToPeriodEnd(subscriber.subscription.id);
    expect(await tierOf(subscriber)).toBe('silver');
    provider().setCard(String(subscriber.subscription.customer), '4000000000000341');
    provider().clock.advanceToPeriodEnd(subscriber.subscription.id);
    expect(await tierOf(subscriber)).toBe('silver');
    await syncSubscription(billing.app, subscriber.subscription.id);
    expect(await tierOf(subscriber)).toBe('silver');
  });

  test('one that is lost after a later invoice was paid takes nothing', async () => {
    const subscriber = await makeSubscriber(billing);
    const invoice = firstInvoice(subscriber);
    provider().clock.advanceToPeriodEnd(subscriber.subscription.id);
    const { id } = provider().dispute(invoice);
    expect(await tierOf(subscriber)).toBe('free');
    provider().closeDispute(id, 'lost');
    expect(await tierOf(subscriber)).toBe('silver');
  });

  test('of two, the one that stands decides, in whatever order their events come', async () => {
    const subscriber = await makeSubscriber(billing);
    const first = firstInvoice(subscriber);
    provider().clock.advanceToPeriodEnd(subscriber.subscription.id);
    const second = ownedBy(billing, subscriber.principal).invoices.find(({ id }) => id !== first)?.id ?? '';
    provider().set({ reorder_deliveries: true, duplicate_deliveries: true });
    const [one, other] = [provider().dispute(first), provider().dispute(second)];
    provider().closeDispute(one.id, 'won');
    expect(await tierOf(subscriber)).toBe('free');
    provider().closeDispute(other.id, 'won');
    expect(await tierOf(subscriber)).toBe('silver');
  });

  test('an inquiry and an early fraud warning change nothing', async () => {
    const subscriber = await makeSubscriber(billing);
    provider().dispute(firstInvoice(subscriber), { inquiry: true });
    provider().warnOfFraud(firstInvoice(subscriber));
    expect(await tierOf(subscriber)).toBe('silver');
  });

  test('a change of the setting decides every plan anew', async () => {
    const subscriber = await makeSubscriber(billing);
    await decideAllPlans(billing.app);
    provider().dispute(firstInvoice(subscriber));
    expect(await tierOf(subscriber)).toBe('free');
    await decideAllPlans({ ...billing.app, config: { ...billing.app.config, disputes: 'keep' } });
    expect(await tierOf(subscriber)).toBe('silver');
  });
});

test('while a dispute takes the plan, none can be chosen, and the page says why', async () => {
  const subscriber = await makeSubscriber(billing);
  provider().dispute(firstInvoice(subscriber));
  expect(await tierOf(subscriber)).toBe('free');
  expect((await readOverview(billing.app, subscriber.principal)).plan).toMatchObject({
    status: 'active',
    held: 'disputed',
  });
  const row = await readRow(billing.app.db, subscriber.subscription.id);
  expect(row && shownSubscription(billing.app, row).held).toBe('disputed');
  for (const tier of ['silver', 'gold']) {
    await expect(startCheckout(billing.app, subscriber.principal, { tier })).rejects.toMatchObject({
      code: 'VALIDATION',
      message: 'A payment for the Silver plan is disputed at the bank. The plan is back once that is settled.',
    });
  }
});
