import { disputeEnds } from '@gatehouse/payment-sandbox/disputes/dispute';
import { type Html, html } from '@gatehouse/payment-sandbox/http/html';
import { dateText } from '@gatehouse/payment-sandbox/http/time-text';
import { money } from '@gatehouse/payment-sandbox/pages/money';
import type { PaymentProvider } from '@gatehouse/payment-sandbox/payment-controls';
import type { Charge, Dispute, Invoice, Refund } from '@gatehouse/payment-sandbox/provider/records';
import { invoiceActs } from './company-acts.ts';

/** Renders the invoices with what the company and the banks can do: refunds, disputes, warnings, voiding, writing off. */
export function invoicesTable(payment: PaymentProvider, invoices: Invoice[]): Html | null {
  if (invoices.length === 0) return null;
  return html`<div class="scroll" role="region" aria-label="Invoices" tabindex="0"><table><caption>Invoices, newest first</caption><thead><tr><th scope="col">Invoice</th><th scope="col">Amount</th><th scope="col">Status</th><th scope="col">The company or a bank</th></tr></thead><tbody>${invoices.map(
    (invoice) => rowOf(payment, invoice),
  )}</tbody></table></div>`;
}

function rowOf(payment: PaymentProvider, invoice: Invoice): Html {
  const { charges, disputes, refunds, invoice_payments } = payment.state();
  const intent = Object.values(invoice_payments).find((one) => one.invoice === invoice.id)?.payment.payment_intent;
  const charge = Object.values(charges).find((one) => one.payment_intent === intent);
  const open = Object.values(disputes).filter((one) => one.charge === charge?.id && !isClosed(one));
  const paid = Object.values(refunds).filter((one) => one.charge === charge?.id && one.status !== 'failed');
  return html`<tr><td><a href="/pay/invoice/${invoice.id}">${invoice.number ?? 'draft'}</a><br><span class="soft">${invoice.customer}, ${dateText(invoice.created)}</span></td><td>${money(invoice.amount_due, invoice.currency)}</td><td>${statusText(invoice, charge)}</td><td><div class="actions">${actsOf(
    invoice,
    charge,
  ).map((act) =>
    actForm('invoice', invoice.id, act, invoiceActs[act], `${invoiceActs[act]} ${invoice.number}`),
  )}${open.map((dispute) => disputeActs(dispute))}${paid.map((refund) => refundAct(refund))}</div></td></tr>`;
}

function statusText({ status }: Invoice, charge: Charge | undefined): string {
  const refunded = charge && charge.amount_refunded > 0 && `, ${charge.refunded ? 'refunded' : 'refunded in part'}`;
  return `${status}${refunded || ''}${charge?.disputed ? ', disputed' : ''}`;
}

function actsOf({ status }: Invoice, charge: Charge | undefined): (keyof typeof invoiceActs)[] {
  if (status === 'open') return ['void', 'uncollectible'];
  if (status === 'uncollectible') return ['void'];
  if (!charge || charge.disputed || charge.refunded) return [];
  const isCard = charge.payment_method_details?.type === 'card';
  return ['refund', 'dispute', 'inquiry', ...(isCard ? (['warning'] as const) : [])];
}

function disputeActs(dispute: Dispute): Html {
  const inquiry = dispute.status.startsWith('warning_');
  const ends = disputeEnds.filter((end) => end === 'prevented' || inquiry === (end === 'warning_closed'));
  const labels = { won: 'Won', lost: 'Lost', warning_closed: 'Close the inquiry', prevented: 'Prevented' };
  return html`${actForm('dispute', dispute.id, 'evidence', 'Submit evidence')}${ends.map((end) =>
    actForm('dispute', dispute.id, end, labels[end]),
  )}`;
}

function refundAct(refund: Refund): Html {
  return actForm('refund', refund.id, 'fail', 'Let the refund fail');
}

function isClosed({ status }: Dispute): boolean {
  return (disputeEnds as readonly string[]).includes(status);
}

function actForm(kind: string, id: string, act: string, label: string, name = label): Html {
  return html`<form method="post" action="/control/${kind}"><input type="hidden" name="${kind}" value="${id}"><button name="act" value="${act}" aria-label="${name}">${label}</button></form>`;
}
