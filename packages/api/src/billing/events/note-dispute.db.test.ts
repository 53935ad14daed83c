import { describe, expect, test } from 'vitest';
import { shownSubscription } from '../../operators/events/shown-subscription.ts';
import { readPlan } from '../../organisations/plan.ts';
import { makeSubscriber, ownedBy } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { setCancellation } from '../actions/set-cancellation.ts';
import { startCheckout } from '../actions/start-checkout.ts';
import { decideAllPlans } from '../entitlement/decide-plan.ts';
import { readRow } from '../subscription/subscription-rows.ts';
import { readOverview } from '../summary/read-overview.ts';
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

describe('cancel', () => {
  const cancel = ({ principal }: Subscriber) => setCancellation(billing.app, principal, { cancel: true });

  test('ends a plan at once that a lost dispute takes, whose refusal says so, and it can be bought anew', async () => {
    const subscriber = await makeSubscriber(billing);
    // An end that was scheduled before means nothing any more either.
    await cancel(subscriber);
    const { id } = provider().dispute(firstInvoice(subscriber));
    provider().closeDispute(id, 'lost');
    expect(await tierOf(subscriber)).toBe('free');
    const { plan } = await readOverview(billing.app, subscriber.principal);
    expect(plan).toMatchObject({ held: 'lost', cancel_at_period_end: true, cancel_ends_now: true });
    await expect(startCheckout(billing.app, subscriber.principal, { tier: 'gold' })).rejects.toMatchObject({
      code: 'VALIDATION',
      message:
        'The bank took back a payment for the Silver plan, so it is off until its next invoice is paid. Cancel it to choose a plan now.',
    });

    expect(await cancel(subscriber)).toMatchObject({ status: 'canceled' });
    provider().payCheckout((await startCheckout(billing.app, subscriber.principal, { tier: 'gold' })).url);
    expect(await tierOf(subscriber)).toBe('gold');
  });

  test.each(['an open dispute beside the lost one', 'a later invoice that is paid'])(
    'schedules the end of the period with %s',
    async (what) => {
      const subscriber = await makeSubscriber(billing);
      const first = firstInvoice(subscriber);
      const { id } = provider().dispute(first);
      if (what.startsWith('an open')) {
        provider().clock.advanceToPeriodEnd(subscriber.subscription.id);
        const later = ownedBy(billing, subscriber.principal).invoices.find((invoice) => invoice.id !== first);
        provider().closeDispute(provider().dispute(later?.id ?? '').id, 'lost');
        await billing.settled();
        expect((await readOverview(billing.app, subscriber.principal)).plan.held).toBe('disputed');
      } else {
        provider().closeDispute(id, 'lost');
        provider().clock.advanceToPeriodEnd(subscriber.subscription.id);
        await billing.settled();
      }
      expect(await cancel(subscriber)).toMatchObject({ status: 'active', cancel_at_period_end: true });
    },
  );

  test('schedules the end of the period while PAYMENT_DISPUTES keeps the plan', async () => {
    const subscriber = await makeSubscriber(billing);
    provider().closeDispute(provider().dispute(firstInvoice(subscriber)).id, 'lost');
    await billing.settled();
    const app = { ...billing.app, config: { ...billing.app.config, disputes: 'keep' as const } };
    expect(await setCancellation(app, subscriber.principal, { cancel: true })).toMatchObject({ status: 'active' });
  });
});

test('after a lost dispute checkout still leads to the next invoice, if that is due: it gives the plan back', async () => {
  const subscriber = await makeSubscriber(billing);
  provider().closeDispute(provider().dispute(firstInvoice(subscriber)).id, 'lost');
  provider().setCard(String(subscriber.subscription.customer), '4000000000000341');
  provider().clock.advanceToPeriodEnd(subscriber.subscription.id);
  expect(await tierOf(subscriber)).toBe('free');
  const { url } = await startCheckout(billing.app, subscriber.principal, { tier: 'silver' });
  provider().payInvoice(url, '4242424242424242');
  expect(await tierOf(subscriber)).toBe('silver');
});
