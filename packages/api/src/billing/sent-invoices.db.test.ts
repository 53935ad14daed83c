import { expect, test } from 'vitest';
import { readPlan } from '../organisations/plan.ts';
import { makeSubscriber, ownedBy } from '../testing/billing.ts';
import { callerFor } from '../testing/factories.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';

const billing = useBillingTest({ emptiesProvider: true });
const provider = () => billing.sandbox.payment;

/** Makes a subscriber whose invoices are sent, with one that is open and due in fourteen days. */
async function makeInvoiced() {
  const { principal, subscription } = await makeSubscriber(billing);
  provider().sendInvoices(subscription.id, 14);
  provider().clock.advanceToPeriodEnd(subscription.id);
  await billing.settled();
  const open = ownedBy(billing, principal).invoices.find(({ status }) => status === 'open');
  return { principal, subscription, open, pages: callerFor(billing, principal) };
}

test('an open invoice that was sent is not past due: the plan stays active, with the days until it is due', async () => {
  const { principal, open, pages } = await makeInvoiced();
  const { plan, notice } = await pages.subscription.overview();
  expect([plan.tier, plan.status, plan.days_until_due, notice]).toEqual(['silver', 'active', 14, null]);
  const shown = await pages.billing.invoices();
  const due = new Date((open?.due_date ?? 0) * 1000).toISOString();
  expect(shown?.invoices?.[0]).toMatchObject({ id: open?.id, state: 'open', due });
  expect((open?.due_date ?? 0) - (open?.created ?? 0)).toBe(14 * 86_400);
  expect(shown?.next?.due).not.toBeNull();
  // It can be changed like any other that is active.
  const { url } = await pages.billing.checkout({ tier: 'gold' });
  expect(url).toContain('/pay/portal/');
  expect((await readPlan(billing.app, principal.organisationId)).tier).toBe('silver');
});

test('after its due date it is past due, with a grace and a notice that no payment failed, until it is paid', async () => {
  const { principal, open, pages } = await makeInvoiced();
  provider().clock.advance({ days: 14 });
  await billing.settled();
  const { plan, notice } = await pages.subscription.overview();
  expect([plan.tier, plan.status]).toEqual(['silver', 'past_due']);
  expect(notice).toMatchObject({ kind: 'overdue', grace_ends_at: expect.any(String) });
  expect((await pages.billing.checkout({ tier: 'silver' })).url).toBe(open?.hosted_invoice_url);

  provider().payInvoice(open?.id ?? '');
  await billing.settled();
  expect(await pages.subscription.overview()).toMatchObject({ plan: { status: 'active' }, notice: null });
  expect((await readPlan(billing.app, principal.organisationId)).tier).toBe('silver');
});

test('the days are those of the subscription now: none once its invoices are charged again', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  provider().sendInvoices(subscription.id, 30);
  await billing.settled();
  const pages = callerFor(billing, principal);
  expect((await pages.subscription.overview()).plan.days_until_due).toBe(30);
  await billing.app.payment.ask((stripe) =>
    stripe.subscriptions.update(subscription.id, { collection_method: 'charge_automatically' }),
  );
  await billing.settled();
  expect((await pages.subscription.overview()).plan.days_until_due).toBeNull();
});
