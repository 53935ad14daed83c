import { eq } from 'drizzle-orm';
import { describe, expect, test, vi } from 'vitest';
import type { Administrator } from '../../auth/principal.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { AppError } from '../../platform/errors.ts';
import type { Ask } from '../../platform/providers/payment/connection.ts';
import { parseEvent } from '../../platform/providers/payment/event.ts';
import { makeMember, makeSecond, makeSubscriber, ownedBy } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { applyEvent } from '../events/receive-event.ts';
import { readSubscription } from '../summary/read-subscription.ts';
import { openPortal } from './open-portal.ts';
import { type BillingApp, requirePayment } from './require-payment.ts';
import { setCancellation } from './set-cancellation.ts';
import { startCheckout } from './start-checkout.ts';

const billing = useBillingTest();
const provider = () => billing.sandbox.payment;
const cancel = (principal: Administrator) => setCancellation(billing.app, principal, { cancel: true });
const resume = (principal: Administrator) => setCancellation(billing.app, principal, { cancel: false });
const plan = async (principal: Administrator) => (await readSubscription(billing.app, principal)).plan;
const portal = async (principal: Administrator) =>
  provider().portal((await openPortal(billing.app, principal, {})).url);

describe('cancel and resume', () => {
  test('answer with the subscription record, and the summary shows the same immediately', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const end = new Date((subscription.items.data[0]?.current_period_end ?? 0) * 1000).toISOString();

    const record = { tier: 'silver', status: 'active', current_period_end: end };
    expect(await cancel(principal)).toEqual({ ...record, cancel_at_period_end: true, ends_at: end });
    expect(await plan(principal)).toMatchObject({ tier: 'silver', cancel_at_period_end: true, ends_at: end });

    // The event of an earlier change in the same second would be written until the sync that it causes.
    await billing.settled();
    expect(await resume(principal)).toEqual({ ...record, cancel_at_period_end: false, ends_at: null });
    expect(await plan(principal)).toMatchObject({ tier: 'silver', cancel_at_period_end: false, ends_at: null });
  });

  test('are idempotent, and the second call requests no change', async () => {
    const { principal } = await makeSubscriber(billing);
    const first = await cancel(principal);
    const events = provider().events().length;
    expect(await cancel(principal)).toEqual(first);
    expect(provider().events()).toHaveLength(events);
  });

  test.each(['flexible', 'classic'] as const)(
    'resume takes back a cancellation made in the portal, in the %s form',
    async (form) => {
      const { principal, subscription } = await makeSubscriber(billing);
      provider().set({ portal_cancellation: form });
      (await portal(principal)).cancel(subscription.id);
      await billing.settled();
      expect(subscription.cancel_at_period_end).toBe(form === 'classic');
      expect(await plan(principal)).toMatchObject({ cancel_at_period_end: true });

      expect(await resume(principal)).toMatchObject({ cancel_at_period_end: false, ends_at: null });
      expect(ownedBy(billing, principal).subscriptions[0]?.cancel_at).toBeNull();
    },
  );

  test('without a paid plan are refused', async () => {
    const principal = await makeMember(billing);
    for (const act of [cancel, resume]) {
      await expect(act(principal)).rejects.toMatchObject({ code: 'VALIDATION', message: 'There is no paid plan.' });
    }
    await startCheckout(billing.app, principal, { tier: 'silver' });
    await expect(cancel(principal)).rejects.toThrow('There is no paid plan.');
  });

  test('after the end: resume reports it and updates the record without an event', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await cancel(principal);
    await billing.settled();
    provider().set({ drop_deliveries: true });
    provider().forceStatus(subscription.id, 'canceled');
    expect(await plan(principal)).toMatchObject({ tier: 'silver' });

    await expect(resume(principal)).rejects.toMatchObject({
      code: 'VALIDATION',
      message: 'The paid plan has already ended.',
    });
    expect(await plan(principal)).toEqual({
      tier: 'free',
      name: 'Free',
      price: null,
      status: 'canceled',
      cancel_at_period_end: false,
      current_period_end: null,
      ends_at: null,
    });
    await expect(cancel(principal)).rejects.toThrow('There is no paid plan.');
  });

  test('act on all of several live subscriptions', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await makeSecond(billing, subscription.customer, 'gold');
    expect(await cancel(principal)).toMatchObject({ tier: 'gold', cancel_at_period_end: true });
    const ends = ownedBy(billing, principal).subscriptions.map((each) => each.cancel_at_period_end);
    expect(ends).toEqual([true, true]);
  });

  test('answer with the subscription that ended, not with a better one that had ended before', async () => {
    const { principal, subscription } = await makeSubscriber(billing, 'gold');
    provider().forceStatus(subscription.id, 'canceled');
    await billing.settled();
    const { url } = await startCheckout(billing.app, principal, { tier: 'silver' });
    provider().payCheckout(url);
    await billing.settled();
    const silver = ownedBy(billing, principal).subscriptions.find(({ status }) => status === 'active');
    provider().forceStatus(silver?.id ?? '', 'unpaid');
    await billing.settled();
    expect(await cancel(principal)).toMatchObject({ tier: 'silver', status: 'canceled' });
  });

  test('answer with the provider’s result, even if an event with an older state arrives meanwhile', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().set({ drop_deliveries: true });
    const { id } = await makeSecond(billing, subscription.customer, 'gold');
    const created = provider()
      .events()
      .findLast(({ type }) => type === 'customer.subscription.created');
    const update = `POST /v1/subscriptions/${id}`;
    provider().failNext('close', { count: 1, only: update, afterEffect: true });

    const answer = cancel(principal);
    await vi.waitFor(() => expect(provider().state().subscriptions[id]?.cancel_at_period_end).toBe(true), 30_000);
    provider().deliveries.resendEvent(created?.id ?? '');
    expect(await answer).toMatchObject({ tier: 'gold', cancel_at_period_end: true });
  });

  describe('once carried out', () => {
    /** The App with a provider that fails after the n-th request. */
    function failingAfter(questions: number, meanwhile: () => Promise<unknown>): BillingApp {
      const payment = requirePayment(billing.app);
      let asked = 0;
      const ask: Ask = async (question) => {
        if (++asked > questions) throw new AppError('PROVIDER_UNAVAILABLE', 'The payment provider does not answer.');
        const answer = await payment.ask(question);
        if (asked === questions) await meanwhile();
        return answer;
      };
      return { ...billing.app, payment: { ...payment, ask } };
    }

    async function acts(organisationId: string) {
      const rows = await billing.app.db
        .select()
        .from(auditEvents)
        .where(eq(auditEvents.organisationId, organisationId));
      return rows.map(({ action }) => action).filter((action) => action === 'plan-cancelled');
    }

    test('answer with it, and are in the audit trail, even if the provider stops answering before the row is updated', async () => {
      const { principal, subscription } = await makeSubscriber(billing);
      provider().set({ drop_deliveries: true });
      provider().clock.advance({ seconds: 1 });
      const before = provider().emit('customer.subscription.updated', structuredClone(subscription));
      const event = parseEvent(before);
      if (event === null) throw new Error('There is no event.');

      // One request lists, the other updates.
      const app = failingAfter(2, () => applyEvent(billing.app, event, JSON.stringify(before)));
      expect(await setCancellation(app, principal, { cancel: true })).toMatchObject({
        tier: 'silver',
        cancel_at_period_end: true,
      });
      expect(provider().state().subscriptions[subscription.id]?.cancel_at_period_end).toBe(true);
      expect(await acts(principal.organisationId)).toEqual(['plan-cancelled']);
      const warned = billing.logged.filter(({ level }) => level === 'warn').map(({ fields }) => fields.organisationId);
      expect(warned).toContain(principal.organisationId);
    });

    test('for one of several are in the audit trail, even if the provider refuses the next', async () => {
      const { principal, subscription } = await makeSubscriber(billing);
      await makeSecond(billing, subscription.customer, 'gold');
      const app = failingAfter(2, async () => undefined);
      await expect(setCancellation(app, principal, { cancel: true })).rejects.toMatchObject({
        code: 'PROVIDER_UNAVAILABLE',
      });
      expect(await acts(principal.organisationId)).toEqual(['plan-cancelled']);
    });
  });

  test('are consistent when they run concurrently with each other and with their events', async () => {
    const { principal } = await makeSubscriber(billing);
    provider().set({ reorder_deliveries: true, duplicate_deliveries: true, duplicate_events: true });
    const acts = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? cancel : resume));
    await Promise.all(acts.map((act) => act(principal)));
    await billing.settled();

    const [subscription] = ownedBy(billing, principal).subscriptions;
    expect((await plan(principal)).cancel_at_period_end).toBe(subscription?.cancel_at_period_end);
  });

  test('a provider that succeeds but loses the answer: 502, and the event updates the row', async () => {
    const { principal } = await makeSubscriber(billing);
    provider().failNext('close', { count: 4, only: 'POST /v1/subscriptions', afterEffect: true });
    await expect(cancel(principal)).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
    provider().resetSwitches();
    await billing.settled();
    expect(await plan(principal)).toMatchObject({ cancel_at_period_end: true });
  });
});
