import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Reader } from '../../auth/principal.ts';
import { readPlan } from '../../organisations/plan.ts';
import {
  paymentCheckouts,
  paymentCustomers,
  paymentLivePrices,
  paymentSubscriptions,
} from '../../platform/db/schema/billing.ts';
import { makeMember, makeSubscriber, ownedBy } from '../../testing/billing.ts';
import { useEventTest } from '../../testing/payment/use-event-test.ts';
import { startCheckout } from '../actions/start-checkout.ts';
import { readOverview } from '../summary/read-overview.ts';

const { billing, second, event, receive, storedEvent, tier } = useEventTest();

async function row(id: string) {
  const [found] = await billing.app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  return found;
}

const notice = async (principal: Reader) => (await readOverview(billing.app, principal)).notice;

describe('an event has the effect of its type', () => {
  test('checkout.session.completed closes the checkout, links organisation, customer and subscription, and gives no plan', async () => {
    const principal = await makeMember(billing);
    billing.sandbox.payment.set({ drop_deliveries: true });
    billing.sandbox.payment.payCheckout((await startCheckout(billing.app, principal, { tier: 'gold' })).url);
    const [session] = ownedBy(billing, principal).sessions;
    if (session === undefined) throw new Error('no session');

    billing.sandbox.payment.failNext('close', { count: 1000 });
    expect(await receive(event('checkout.session.completed', session))).toEqual({ received: true, handled: true });
    const [checkout] = await billing.app.db.select().from(paymentCheckouts).where(eq(paymentCheckouts.id, session.id));
    expect(checkout?.closedAt).not.toBeNull();
    expect(await row(String(session.subscription))).toMatchObject({
      status: null,
      needsSync: true,
      customerId: session.customer,
    });
    expect(await tier(principal)).toBe('free');
    expect((await readPlan(billing.app, principal.organisationId)).subscription).toBeNull();

    billing.sandbox.payment.resetSwitches();
    billing.sandbox.payment.set({ retry_first_ms: 100 });
    await receive(event('checkout.session.async_payment_succeeded', session));
    await billing.settled();
    expect(await tier(principal)).toBe('gold');
  });

  test.each([
    ['the reference', { client_reference_id: '0199c0de-0000-7000-8000-000000000000' }],
    ['the metadata', { metadata: { organisation: '0199c0de-0000-7000-8000-000000000000' } }],
    ['no reference at all', { client_reference_id: null }],
  ])('a checkout in which %s disagrees is flagged and links nothing', async (_, wrong) => {
    const principal = await makeMember(billing);
    await startCheckout(billing.app, principal, { tier: 'gold' });
    const [session] = ownedBy(billing, principal).sessions;
    const value = event('checkout.session.completed', { ...session, ...wrong, subscription: 'sub_elsewhere' });
    expect(await receive(value)).toEqual({ received: true, handled: false });
    expect(await storedEvent(value.id)).toMatchObject({ outcome: 'contradiction', flagged: true });
    expect(await row('sub_elsewhere')).toBeUndefined();
  });

  test.each([
    ['checkout.session.expired', 'applied', false],
    ['checkout.session.async_payment_failed', 'noted', true],
  ])('%s closes the checkout', async (type, outcome, flagged) => {
    const principal = await makeMember(billing);
    await startCheckout(billing.app, principal, { tier: 'gold' });
    const [session] = ownedBy(billing, principal).sessions;
    const value = event(type, session ?? {});
    expect(await receive(value)).toEqual({ received: true, handled: true });
    expect(await storedEvent(value.id)).toMatchObject({ outcome, flagged });
    const [checkout] = await billing.app.db
      .select()
      .from(paymentCheckouts)
      .where(eq(paymentCheckouts.id, session?.id ?? ''));
    expect(checkout?.closedAt).not.toBeNull();
  });

  test.each([
    'created',
    'updated',
    'deleted',
    'paused',
    'resumed',
    'trial_will_end',
    'pending_update_applied',
    'pending_update_expired',
  ])('customer.subscription.%s updates the state while the provider is unreachable', async (kind) => {
    const { principal, subscription } = await makeSubscriber(billing);
    billing.sandbox.payment.failNext('close', { count: 1000 });
    const object = { ...subscription, status: kind === 'deleted' ? 'canceled' : 'paused' };
    const value = event(`customer.subscription.${kind}`, object, { created: second() + 10 });
    expect(await receive(value)).toEqual({ received: true, handled: true });
    expect(await tier(principal)).toBe('free');
    expect(await row(subscription.id)).toMatchObject({ status: object.status, needsSync: true });
    billing.sandbox.payment.resetSwitches();
  });

  test('a late event of an older second changes nothing', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const late = event('customer.subscription.updated', { ...subscription, status: 'incomplete' }, { created: 1000 });
    expect(await receive(late)).toEqual({ received: true, handled: true });
    expect(await tier(principal)).toBe('silver');
  });

  test('a failed payment is open until its invoice is closed, in whatever order the events arrive', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    billing.sandbox.payment.failNext('close', { count: 1000 });
    const about = (id: string) => ({
      id,
      customer: subscription.customer,
      parent: { subscription_details: { subscription: subscription.id } },
      hosted_invoice_url: `https://pay.example/${id}`,
    });
    expect(await notice(principal)).toBeNull();

    expect(await receive(event('invoice.payment_failed', about('in_a')))).toEqual({ received: true, handled: true });
    expect(await notice(principal)).toMatchObject({
      kind: 'payment_failed',
      invoice_url: 'https://pay.example/in_a',
      grace_ends_at: null,
    });
    expect(await tier(principal)).toBe('silver');

    await receive(event('invoice.paid', about('in_a'), { created: 1000 }));
    expect(await notice(principal)).toBeNull();

    for (const settled of ['paid', 'voided', 'marked_uncollectible']) {
      await receive(event(`invoice.${settled}`, about(`in_${settled}`)));
      await receive(event('invoice.payment_action_required', about(`in_${settled}`)));
      expect(await notice(principal)).toBeNull();
    }
    await receive(event('invoice.payment_action_required', about('in_b')));
    expect(await notice(principal)).toMatchObject({ kind: 'action_required' });
    await receive(event('invoice.payment_failed', about('in_b'), { created: second() - 60 }));
    expect(await notice(principal)).toMatchObject({ kind: 'action_required' });
    billing.sandbox.payment.resetSwitches();
  });

  test('an invoice of an older API version names its subscription too', async () => {
    const { subscription } = await makeSubscriber(billing);
    await billing.settled();
    billing.sandbox.payment.failNext('close', { count: 1000 });
    await receive(
      event('invoice.paid', { id: 'in_old', customer: subscription.customer, subscription: subscription.id }),
    );
    expect(await row(subscription.id)).toMatchObject({ needsSync: true });
    billing.sandbox.payment.resetSwitches();
    await billing.settled();
    expect(await row(subscription.id)).toMatchObject({ needsSync: false });
  });

  test.each(['invoice.finalization_failed', 'charge.refunded'])('%s is noted for the operator', async (type) => {
    const { subscription } = await makeSubscriber(billing);
    const value = event(type, { id: 'x_1', customer: subscription.customer });
    expect(await receive(value)).toEqual({ received: true, handled: true });
    expect(await storedEvent(value.id)).toMatchObject({ outcome: 'noted', flagged: true });
  });

  test('charge.dispute.created, which names no customer, is noted with its charge', async () => {
    const value = event('charge.dispute.created', { id: 'dp_1', charge: 'ch_1' });
    expect(await receive(value)).toEqual({ received: true, handled: true });
    const stored = await storedEvent(value.id);
    expect(stored).toMatchObject({ outcome: 'noted', flagged: true });
    expect(stored?.payload).toContain('ch_1');
  });

  test('customer.deleted marks the customer deleted, and its late events still apply', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const customer = String(subscription.customer);
    expect(await receive(event('customer.deleted', { id: customer }))).toEqual({ received: true, handled: true });
    const [stored] = await billing.app.db
      .select()
      .from(paymentCustomers)
      .where(eq(paymentCustomers.customerId, customer));
    expect(stored?.goneAt).not.toBeNull();
    expect(await tier(principal)).toBe('silver');

    billing.sandbox.payment.forceStatus(subscription.id, 'canceled');
    await billing.settled();
    expect(await tier(principal)).toBe('free');
  });

  test.each(['price.created', 'price.updated', 'price.deleted', 'product.updated'])(
    '%s causes a new look-up of the prices',
    async (type) => {
      await billing.app.db.update(paymentLivePrices).set({ prices: [] });
      const object = type.startsWith('price')
        ? { id: 'price_n', lookup_key: 'silver_monthly' }
        : { id: 'prod_unknown' };
      expect(await receive(event(type, object))).toEqual({ received: true, handled: type.startsWith('price') });
      await billing.settled();
      const rows = await billing.app.db.select().from(paymentLivePrices);
      expect(rows.map(({ prices }) => prices[0]?.shown?.amounts.gbp).sort()).toEqual([2400, 7900]);
    },
  );
});
