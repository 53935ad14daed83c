import { expect, test } from 'vitest';
import { useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

async function paidInvoice(): Promise<string> {
  return (await setup.buy()).latest_invoice as string;
}

function disputeEvents(): string[] {
  const types = setup.sandbox.payment.events().map(({ type }) => type);
  return types.filter((type) => type.startsWith('charge.dispute.')).map((type) => type.replace('charge.dispute.', ''));
}

test('a dispute takes the amount away, and names charge and payment intent alone', async () => {
  const { id, latest_invoice } = await setup.buy();
  const { id: dispute } = setup.sandbox.payment.dispute(latest_invoice as string, { reason: 'product_not_received' });
  const opened = await setup.stripe.disputes.retrieve(dispute, { expand: ['charge'] });
  expect(opened).toMatchObject({
    amount: 2400,
    reason: 'product_not_received',
    status: 'needs_response',
    charge: { disputed: true },
    is_charge_refundable: false,
  });
  expect(opened).not.toHaveProperty('customer');
  const [link] = (
    await setup.stripe.invoicePayments.list({
      payment: { type: 'payment_intent', payment_intent: opened.payment_intent as string },
    })
  ).data;
  expect(link?.invoice).toBe(latest_invoice);
  expect(disputeEvents()).toEqual(['created', 'funds_withdrawn']);
  expect(await setup.statusOf(id)).toBe('active');
  await expect(setup.stripe.refunds.create({ payment_intent: opened.payment_intent as string })).rejects.toMatchObject({
    code: 'charge_disputed',
  });
  expect(() => setup.sandbox.payment.dispute(latest_invoice as string)).toThrow('disputed already');
});

test('a dispute that is won after evidence gives the amount back', async () => {
  const { id } = setup.sandbox.payment.dispute(await paidInvoice());
  const params = { evidence: { uncategorized_text: 'A contract.' } };
  expect((await setup.stripe.disputes.update(id, { ...params, submit: false })).status).toBe('needs_response');
  expect(await setup.stripe.disputes.update(id, params)).toMatchObject({
    status: 'under_review',
    evidence: params.evidence,
    evidence_details: { submission_count: 1 },
  });
  setup.sandbox.payment.closeDispute(id, 'won');
  expect((await setup.stripe.disputes.retrieve(id)).status).toBe('won');
  expect(disputeEvents()).toEqual(['created', 'funds_withdrawn', 'updated', 'updated', 'closed', 'funds_reinstated']);
  expect(() => setup.sandbox.payment.closeDispute(id, 'lost')).toThrow('closed');
});

test.each(['winning_evidence', 'losing_evidence'])('the text %s decides at once', async (uncategorized_text) => {
  const { id } = setup.sandbox.payment.dispute(await paidInvoice());
  const { status } = await setup.stripe.disputes.update(id, { evidence: { uncategorized_text } });
  expect(status).toBe(uncategorized_text === 'winning_evidence' ? 'won' : 'lost');
});

test('a dispute that the company accepts is lost', async () => {
  const { id } = setup.sandbox.payment.dispute(await paidInvoice());
  expect((await setup.stripe.disputes.close(id)).status).toBe('lost');
  expect(disputeEvents()).toEqual(['created', 'funds_withdrawn', 'closed']);
});

test('an inquiry takes nothing away, and ends without a dispute', async () => {
  const invoice = await paidInvoice();
  const { id, status } = setup.sandbox.payment.dispute(invoice, { inquiry: true });
  expect(status).toBe('warning_needs_response');
  expect(() => setup.sandbox.payment.closeDispute(id, 'won')).toThrow('cannot be closed');
  setup.sandbox.payment.submitEvidence(id);
  setup.sandbox.payment.closeDispute(id, 'warning_closed');
  expect(disputeEvents()).toEqual(['created', 'updated', 'closed']);
  expect(setup.sandbox.payment.dispute(invoice).status).toBe('needs_response');
});

test('a dispute can be prevented', async () => {
  const { id } = setup.sandbox.payment.dispute(await paidInvoice());
  setup.sandbox.payment.closeDispute(id, 'prevented');
  expect((await setup.stripe.disputes.retrieve(id)).status).toBe('prevented');
  expect(disputeEvents().slice(-2)).toEqual(['closed', 'funds_reinstated']);
});

test('an early fraud warning names the charge, and is actionable until that is refunded', async () => {
  const invoice = await paidInvoice();
  const { id, actionable } = setup.sandbox.payment.warnOfFraud(invoice);
  expect(actionable).toBe(true);
  const { charge } = await setup.stripe.radar.earlyFraudWarnings.retrieve(id, { expand: ['charge'] });
  expect(charge).toMatchObject({ amount: 2400 });
  setup.sandbox.payment.refund(invoice);
  expect(setup.sandbox.payment.warnOfFraud(invoice).actionable).toBe(false);
  expect(setup.typesOf(id)).toEqual(['radar.early_fraud_warning.created']);
});
