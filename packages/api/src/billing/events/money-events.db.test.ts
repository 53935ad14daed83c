import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { readPlan } from '../../organisations/plan.ts';
import { paymentEvents } from '../../platform/db/schema/billing.ts';
import { makeSubscriber, ownedBy } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';

const billing = useBillingTest({ emptiesProvider: true });

test('refunds, disputes and early fraud warnings are noted with their organisation, and change no plan', async () => {
  const { principal } = await makeSubscriber(billing);
  const invoice = ownedBy(billing, principal).invoices[0]?.id ?? '';
  const { payment } = billing.sandbox;
  payment.warnOfFraud(invoice);
  payment.failRefund(payment.refund(invoice, { amount: 500 }).id);
  const dispute = payment.dispute(invoice);
  payment.submitEvidence(dispute.id);
  payment.closeDispute(dispute.id, 'won');
  await billing.settled();

  const noted = await billing.app.db.select().from(paymentEvents).where(eq(paymentEvents.outcome, 'noted'));
  const types = new Set(noted.map(({ type }) => type));
  expect([...types].toSorted()).toEqual([
    'charge.dispute.closed',
    'charge.dispute.created',
    'charge.dispute.funds_reinstated',
    'charge.dispute.funds_withdrawn',
    'charge.dispute.updated',
    'charge.refunded',
    'radar.early_fraud_warning.created',
    'refund.created',
    'refund.failed',
    'refund.updated',
  ]);
  for (const event of noted) {
    expect(event, event.type).toMatchObject({ organisationId: principal.organisationId, flagged: true, handled: true });
  }
  expect((await readPlan(billing.app, principal.organisationId)).tier).toBe('silver');
});
