import { findTestMethod, saveTestMethod, testMethodsFor } from '../customers/test-methods.ts';
import { redirect, sendPage } from '../http/answer.ts';
import { html } from '../http/html.ts';
import { page } from '../http/page.ts';
import { type Exchange, HttpError, readForm } from '../http/request.ts';
import { dateText } from '../http/time-text.ts';
import { authenticate } from '../pages/authentication.ts';
import { errorMessage, methodFields, refusalOf } from '../pages/method-fields.ts';
import { money } from '../pages/money.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice } from '../provider/records.ts';
import { payNow } from './pay-invoice.ts';

/**
 * Answers requests for the hosted invoice at /pay/invoice/:id, where an open invoice can be paid.
 *
 * @throws HttpError 404 if there is no such invoice, 413 for a form of more than a megabyte.
 */
export async function invoicePage(provider: Provider, { req, res, method }: Exchange, id: string): Promise<void> {
  const invoice = provider.state.invoices[id];
  if (!invoice) throw new HttpError(404, 'There is no such invoice.');
  if (method !== 'POST') return sendPage(res, 200, pageOf(provider, invoice, null));
  const form = await readForm(req);
  const number = form.get('card') ?? '';
  const step = owed(invoice) ? authenticate(`/pay/invoice/${id}`, form, findTestMethod(number)?.onSession) : null;
  if (step && 'ask' in step) return sendPage(res, 200, step.ask);
  const message = payInvoice(provider, invoice, number, step === null);
  provider.file.save();
  if (message === null) redirect(res, `/pay/invoice/${id}`);
  else sendPage(res, 402, pageOf(provider, invoice, message, number));
}

/**
 * Pays an open invoice with a card, as the customer does on the page. Returns null, also for a
 * bank debit that ends days later, or the sentence that the page shows. An authentication that the card requires has been completed, unless
 * `authenticated` is false.
 */
export function payInvoice(provider: Provider, invoice: Invoice, number: string, authenticated = true): string | null {
  const wanted = findTestMethod(number);
  if (!owed(invoice)) return 'There is nothing to pay on this invoice.';
  const sentence = refusalOf(wanted, invoice.currency);
  if (!wanted || sentence) return sentence;
  if (provider.state.debits[invoice.id]) return 'A payment of this invoice is being processed.';
  const method = saveTestMethod(provider, wanted, invoice.customer);
  const charge = payNow(provider, invoice.id, true, { manual: true, paymentMethod: method.id, authenticated });
  if (charge.result === 'paid' || charge.result === 'processing') return null;
  if (charge.result === 'requires_action')
    return 'We are unable to authenticate your payment method. Try another card.';
  return 'Your card was declined. Try another card.';
}

function pageOf(provider: Provider, invoice: Invoice, message: string | null, card?: string): string {
  const processing = provider.state.debits[invoice.id] !== undefined;
  return page({
    title: `Invoice ${invoice.number ?? ''}`.trim(),
    width: 'narrow',
    body: html`<h1>Invoice ${invoice.number}</h1>
<p class="price">${money(invoice.amount_due, invoice.currency)}</p>
<dl><dt>Status</dt><dd>${processing ? 'a payment is being processed' : (statusTexts[invoice.status ?? ''] ?? invoice.status)}</dd><dt>Date</dt><dd>${dateText(invoice.created)}</dd>${invoice.lines.data.map(
      (line) => html`<dt>${line.description}</dt><dd>${money(line.amount, line.currency)}</dd>`,
    )}</dl>
${errorMessage(message)}
${owed(invoice) && !processing && html`<form method="post" action="/pay/invoice/${invoice.id}">${methodFields(testMethodsFor(invoice.currency), card)}<button class="primary">Pay ${money(invoice.amount_due, invoice.currency)}</button></form>`}`,
  });
}

/** Whether the invoice can be paid on its page. */
function owed({ status }: Invoice): boolean {
  return status === 'open' || status === 'uncollectible';
}

const statusTexts: Record<string, string> = {
  draft: 'draft',
  open: 'to be paid',
  paid: 'paid',
  uncollectible: 'uncollectible, can still be paid',
  void: 'void',
};
