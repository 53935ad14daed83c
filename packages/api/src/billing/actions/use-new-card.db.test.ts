import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { readPlan } from '../../organisations/plan.ts';
import { paymentCustomers } from '../../platform/db/schema/billing.ts';
import { makeSubscriber, ownedBy } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { readRow } from '../subscription/subscription-rows.ts';
import { openPortal } from './open-portal.ts';
import { useNewCard } from './use-new-card.ts';

const billing = useBillingTest({ emptiesProvider: true });
const declinesLater = '4000000000000341';
const good = '4242424242424242';

type Subscriber = Awaited<ReturnType<typeof makeSubscriber>>;

/** Saves a card in the portal, as the user does whom the page sends there. */
async function saveCard({ principal }: Subscriber, card: string) {
  const { url } = await openPortal(billing.app, principal, {});
  billing.sandbox.payment.portal(url).changeCard(card);
  await billing.settled();
}

const methodOf = (id: string | null) => billing.sandbox.payment.state().payment_methods[id ?? '']?.card?.last4;
function chargedBy({ subscription }: Subscriber) {
  const { customers } = billing.sandbox.payment.state();
  const customer = customers[String(subscription.customer)];
  return methodOf(subscription.default_payment_method ?? customer?.invoice_settings.default_payment_method ?? null);
}

test.each([
  ['its own is replaced', false],
  ['its own is cleared, where the provider allows that', true],
])('a card that was saved in the portal is the one that the plan charges: %s', async (_, clears) => {
  billing.sandbox.payment.set({ subscription_card_clears: clears });
  const subscriber = await makeSubscriber(billing);
  await saveCard(subscriber, declinesLater);
  expect(chargedBy(subscriber)).toBe('0341');
  expect(subscriber.subscription.default_payment_method === null).toBe(clears);
  expect((await readRow(billing.app.db, subscriber.subscription.id))?.paymentMethod).toBe('visa 0341');
});

test('a card that was saved after a failed payment pays the open invoice', async () => {
  const subscriber = await makeSubscriber(billing);
  await saveCard(subscriber, declinesLater);
  billing.sandbox.payment.clock.advanceToPeriodEnd(subscriber.subscription.id);
  await billing.settled();
  expect(subscriber.subscription.status).toBe('past_due');

  await saveCard(subscriber, good);
  expect(subscriber.subscription.status).toBe('active');
  const { organisationId } = subscriber.principal;
  expect((await readPlan(billing.app, organisationId)).subscription?.status).toBe('active');
});

describe('a card that was saved after failed payments paused the plan', () => {
  async function makePaused(after: 'first' | 'final') {
    const subscriber = await makeSubscriber(billing);
    const { payment } = billing.sandbox;
    payment.set(after === 'first' ? { first_failure: 'pause' } : { dunning_end: 'pause' });
    await saveCard(subscriber, declinesLater);
    payment.clock.advanceToPeriodEnd(subscriber.subscription.id);
    if (after === 'final') payment.clock.advance({ days: 16 });
    await billing.settled();
    expect(subscriber.subscription.status_details?.paused.subscription.type).toBe(`${after}_payment_failure`);
    return subscriber;
  }
  const tierOf = async ({ principal }: Subscriber) => (await readPlan(billing.app, principal.organisationId)).tier;

  test.each(['first', 'final'] as const)('pays the invoice and resumes it, after the %s failure', async (after) => {
    const subscriber = await makePaused(after);
    const end = subscriber.subscription.items.data[0]?.current_period_end;
    await saveCard(subscriber, good);
    expect(subscriber.subscription.status).toBe('active');
    expect(subscriber.subscription.items.data[0]?.current_period_end).toBe(end);
    expect(await tierOf(subscriber)).toBe('silver');
  });

  test('leaves it paused if it is declined too, and while no invoice is open', async () => {
    const subscriber = await makePaused('final');
    await saveCard(subscriber, declinesLater);
    expect(subscriber.subscription.status).toBe('paused');
    const open = ownedBy(billing, subscriber.principal).invoices.find(({ status }) => status === 'open');
    billing.sandbox.payment.voidInvoice(open?.id ?? '');
    await saveCard(subscriber, good);
    expect(subscriber.subscription.status).toBe('paused');
  });

  test('is charged once where the provider’s settings resume it, too', async () => {
    const subscriber = await makePaused('final');
    billing.sandbox.payment.set({ paid_while_paused: 'resumes' });
    await saveCard(subscriber, good);
    expect(subscriber.subscription.status).toBe('active');
    const paid = ownedBy(billing, subscriber.principal).invoices.filter(({ status }) => status === 'paid');
    expect(paid).toHaveLength(2);
  });
});

test('a card that is declined again leaves the payment open, and breaks nothing', async () => {
  const subscriber = await makeSubscriber(billing);
  await saveCard(subscriber, declinesLater);
  billing.sandbox.payment.clock.advanceToPeriodEnd(subscriber.subscription.id);
  await billing.settled();
  await saveCard(subscriber, declinesLater);
  expect(subscriber.subscription.status).toBe('past_due');
  expect((await readPlan(billing.app, subscriber.principal.organisationId)).subscription?.status).toBe('past_due');
});

test('the last of several cards is charged, in whatever order their events come', async () => {
  const subscriber = await makeSubscriber(billing);
  billing.sandbox.payment.set({ reorder_deliveries: true });
  const { url } = await openPortal(billing.app, subscriber.principal, {});
  for (const card of [declinesLater, good, declinesLater]) billing.sandbox.payment.portal(url).changeCard(card);
  await billing.settled();
  expect(chargedBy(subscriber)).toBe('0341');
});

test('a card of a customer that the provider does not know flags the customer, and is not tried again', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  billing.sandbox.payment.reset();
  const { organisationId } = principal;
  const customerId = String(subscription.customer);
  await useNewCard(billing.app, { organisationId, customerId, methodId: 'pm_1', savedAt: subscription.created });
  const flagged = eq(paymentCustomers.problem, 'unknown_to_provider');
  expect(await billing.app.db.$count(paymentCustomers, flagged)).toBe(1);
});

test('an invoice that the customer pays by transfer is left alone', async () => {
  const subscriber = await makeSubscriber(billing);
  await saveCard(subscriber, declinesLater);
  billing.sandbox.payment.clock.advanceToPeriodEnd(subscriber.subscription.id);
  await billing.settled();
  const open = Object.values(billing.sandbox.payment.state().invoices).find(({ status }) => status === 'open');
  if (open === undefined) throw new Error('There is no open invoice.');
  open.collection_method = 'send_invoice';
  await saveCard(subscriber, good);
  expect(open.status).toBe('open');
});
