import { type DisputeEnd, disputeEnds } from '@gatehouse/payment-sandbox/disputes/dispute';
import type { PaymentProvider } from '@gatehouse/payment-sandbox/payment-controls';

/** What the company or a bank can do with an invoice. */
export const invoiceActs = {
  void: 'Void',
  uncollectible: 'Write off',
  refund: 'Refund',
  dispute: 'Dispute',
  inquiry: 'Inquiry',
  warning: 'Warn of fraud',
} as const;

/**
 * Acts on an invoice: `{invoice, act, amount?, reason?}`.
 *
 * @throws Error if the act is unknown, or the invoice does not allow it.
 */
export function actOnInvoice(payment: PaymentProvider, fields: Record<string, unknown>): object {
  const invoice = String(fields.invoice ?? '');
  const reason = fields.reason ? { reason: String(fields.reason) } : {};
  switch (fields.act) {
    case 'void':
      return payment.voidInvoice(invoice);
    case 'uncollectible':
      return payment.markUncollectible(invoice);
    case 'refund':
      return payment.refund(invoice, fields.amount === undefined ? {} : { amount: Number(fields.amount) });
    case 'dispute':
    case 'inquiry':
      return payment.dispute(invoice, { ...reason, inquiry: fields.act === 'inquiry' });
    case 'warning':
      return payment.warnOfFraud(invoice);
    default:
      throw new Error('That cannot be done with an invoice.');
  }
}

/** Acts on a dispute: `{dispute, act}`, where the act is `evidence` or how it ends. @throws Error as `actOnInvoice`. */
export function actOnDispute(payment: PaymentProvider, fields: Record<string, unknown>): object {
  const dispute = String(fields.dispute ?? '');
  const act = String(fields.act ?? '');
  if (act === 'evidence') return payment.submitEvidence(dispute);
  if (!isEnd(act)) throw new Error('That cannot be done with a dispute.');
  return payment.closeDispute(dispute, act);
}

function isEnd(act: string): act is DisputeEnd {
  return (disputeEnds as readonly string[]).includes(act);
}
