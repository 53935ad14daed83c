import type Stripe from 'stripe';
import type { PaymentSandbox as Sandbox } from '../start-payment-sandbox.ts';

const silver = 'price_sandbox_silver_monthly';

/** Refunds a card and a bank account, wins and loses a dispute, and reads every object of these payments. */
export async function refundsAndDisputes(stripe: Stripe, { payment }: Sandbox): Promise<void> {
  const paid = await paidBy(stripe, 'pm_card_visa');
  const byDebit = await paidBy(stripe, 'pm_sandbox_bacsDebit');
  payment.clock.advance({ days: 5 });
  const [invoicePayment] = (await stripe.invoicePayments.list({ invoice: paid })).data;
  await stripe.invoicePayments.retrieve(invoicePayment?.id as string, { expand: ['payment.payment_intent'] });
  await stripe.invoices.retrieve(paid, { expand: ['payments'] });
  const payment_intent = invoicePayment?.payment.payment_intent as string;
  const intent = await stripe.paymentIntents.retrieve(payment_intent, { expand: ['latest_charge'] });
  await stripe.paymentIntents.list({ customer: intent.customer as string });
  const charge = (intent.latest_charge as Stripe.Charge).id;
  await stripe.charges.retrieve(charge, { expand: ['payment_intent', 'customer'] });
  await stripe.charges.list({ payment_intent });

  const refund = await stripe.refunds.create({ payment_intent, amount: 400, reason: 'requested_by_customer' });
  await stripe.refunds.update(refund.id, { metadata: { a: 'b' } });
  await stripe.refunds.retrieve(refund.id, { expand: ['charge'] });
  payment.failRefund(refund.id);
  payment.refund(byDebit);
  await stripe.refunds.list({});
  payment.clock.advance({ days: 5 });

  const warning = payment.warnOfFraud(paid);
  await stripe.radar.earlyFraudWarnings.retrieve(warning.id, { expand: ['charge'] });
  await stripe.radar.earlyFraudWarnings.list({ charge });
  payment.closeDispute(payment.dispute(paid, { inquiry: true }).id, 'warning_closed');
  const dispute = payment.dispute(paid);
  await stripe.disputes.retrieve(dispute.id, { expand: ['charge', 'payment_intent'] });
  await stripe.disputes.update(dispute.id, { evidence: { uncategorized_text: 'winning_evidence' } });
  const other = payment.dispute(await paidBy(stripe, 'pm_card_visa'));
  await stripe.disputes.list({ charge: other.charge });
  await stripe.disputes.close(other.id);
}

/** Buys a plan with a payment method, and returns the invoice. */
async function paidBy(stripe: Stripe, token: string): Promise<string> {
  const { id: customer } = await stripe.customers.create({ payment_method: token });
  const [method] = (await stripe.paymentMethods.list({ customer })).data;
  const items = [{ price: silver }];
  const bought = await stripe.subscriptions.create({
    customer,
    items,
    default_payment_method: method?.id as string,
  });
  return bought.latest_invoice as string;
}
