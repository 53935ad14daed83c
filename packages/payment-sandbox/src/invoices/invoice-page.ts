import { findCard, saveCard } from '../customers/cards.ts';
import { redirect, sendPage } from '../http/answer.ts';
import { html } from '../http/html.ts';
import { page } from '../http/page.ts';
import { type Exchange, HttpError, readForm } from '../http/request.ts';
import { dateText } from '../http/time-text.ts';
import { cardFields, errorMessage } from '../pages/card-fields.ts';
import { money } from '../pages/money.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice } from '../provider/records.ts';
import { payNow } from './invoice.ts';

/**
 * Answers requests for the hosted invoice at /pay/invoice/:id, where an open invoice can be paid.
 *
 * @throws HttpError 404 if there is no such invoice, 413 for a form of more than a megabyte.
 */
export async function invoicePage(provider: Provider, { req, res, method }: Exchange, id: string): Promise<void> {
  const invoice = provider.state.invoices[id];
  if (!invoice) throw new HttpError(404, 'There is no such invoice.');
  if (method !== 'POST') return sendPage(res, 200, pageOf(invoice, null));
  const number = (await readForm(req)).get('card') ?? '';
  const message = payInvoice(provider, invoice, number);
  provider.file.save();
  if (message === null) redirect(res, `/pay/invoice/${id}`);
  else sendPage(res, 402, pageOf(invoice, message, number));
}

/**
 * Pays an open invoice with a card, as the customer does on the page. Returns null, or the sentence
 * that the page shows.
 */
export function payInvoice(provider: Provider, invoice: Invoice, number: string): string | null {
  const card = findCard(number);
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible')
    return 'There is nothing to pay on this invoice.';
  if (!card) return 'This is not a test card. Choose one of those listed.';
  const method = saveCard(provider, card, invoice.customer);
  const charge = payNow(provider, invoice.id, true, { manual: true, paymentMethod: method.id });
  return charge.result === 'paid' ? null : 'Your card was declined. Try another card.';
}

function pageOf(invoice: Invoice, message: string | null, card?: string): string {
  const owed = invoice.status === 'open' || invoice.status === 'uncollectible';
  return page({
    title: `Invoice ${invoice.number ?? ''}`.trim(),
    width: 'narrow',
    body: html`<h1>Invoice ${invoice.number}</h1>
<p class="price">${money(invoice.amount_due, invoice.currency)}</p>
<dl><dt>Status</dt><dd>${statusTexts[invoice.status ?? ''] ?? invoice.status}</dd><dt>Date</dt><dd>${dateText(invoice.created)}</dd>${invoice.lines.data.map(
      (line) => html`<dt>${line.description}</dt><dd>${money(line.amount, line.currency)}</dd>`,
    )}</dl>
${errorMessage(message)}
${owed && html`<form method="post" action="/pay/invoice/${invoice.id}">${cardFields(card)}<button class="primary">Pay ${money(invoice.amount_due, invoice.currency)}</button></form>`}`,
  });
}

const statusTexts: Record<string, string> = {
  draft: 'draft',
  open: 'to be paid',
  paid: 'paid',
  uncollectible: 'uncollectible, can still be paid',
  void: 'void',
};
