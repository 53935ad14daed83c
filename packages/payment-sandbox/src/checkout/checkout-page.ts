import { priceIn } from '../catalogue/price-currencies.ts';
import { findTestMethod, testMethodsFor } from '../customers/test-methods.ts';
import { redirect, sendPage } from '../http/answer.ts';
import { html } from '../http/html.ts';
import { page } from '../http/page.ts';
import { type Exchange, HttpError, readForm } from '../http/request.ts';
import { authenticate } from '../pages/authentication.ts';
import { errorMessage, methodFields } from '../pages/method-fields.ts';
import { money, priceText } from '../pages/money.ts';
import type { Provider } from '../provider/provider.ts';
import type { CheckoutSession, LineItem } from '../provider/records.ts';
import { buyerFields, buyerOf } from './buyer-fields.ts';
import { applyCode, payCheckout, useOf } from './pay-checkout.ts';

/**
 * Answers requests for the hosted checkout at /pay/checkout/:id.
 *
 * @throws HttpError 404 if there is no such checkout, 413 for a form of more than a megabyte.
 */
export async function checkoutPage(provider: Provider, { req, res, method }: Exchange, id: string): Promise<void> {
  const session = provider.state.checkout_sessions[id];
  if (!session) throw new HttpError(404, 'There is no such checkout.');
  if (session.status !== 'open') return sendPage(res, method === 'POST' ? 409 : 200, closedPage(session));
  if (method !== 'POST') return sendPage(res, 200, openPage(provider, session, null));

  const form = await readForm(req);
  if (form.has('apply')) {
    const message = applyCode(provider, session, buyerOf(form).promotionCode ?? '') ? null : 'This code is invalid.';
    provider.file.save();
    return sendPage(res, message === null ? 200 : 402, openPage(provider, session, message));
  }
  const card = form.has('without_card') ? '' : (form.get('card') ?? '');
  const known = findTestMethod(card);
  const step = authenticate(`/pay/checkout/${id}`, form, known && useOf(provider, session, known));
  if (step && 'ask' in step) return sendPage(res, 200, step.ask);
  if (step) return sendPage(res, 402, openPage(provider, session, step.failed, card));
  const payment = payCheckout(provider, session, card, buyerOf(form));
  provider.file.save();
  if (payment.paid) redirect(res, payment.location);
  else sendPage(res, 402, openPage(provider, session, payment.message, card));
}

function openPage(provider: Provider, session: CheckoutSession, message: string | null, card?: string): string {
  const customer = provider.state.customers[session.customer ?? ''];
  // A customer without a name or an address is not shown, because an id is meaningless to a buyer.
  const buyer = customer?.name ?? customer?.email;
  const currency = session.currency ?? 'gbp';
  const discount = session.total_details?.amount_discount ?? 0;
  return page({
    title: 'Checkout',
    width: 'narrow',
    body: html`${session.cancel_url && html`<p><a href="${session.cancel_url}">Back</a></p>`}
<h1>Sandbox payments</h1>
<section class="panel" aria-labelledby="order"><h2 id="order">Your order</h2>
${session.line_items.data.map((line) => lineOf(provider, line))}
<dl>${discount > 0 && html`<dt>Discount</dt><dd>−${money(discount, currency)}</dd>`}<dt>Due today</dt><dd>${money(session.amount_total ?? 0, currency)}</dd>${buyer && html`<dt>For</dt><dd>${buyer}</dd>`}${session.customer_email && html`<dt>E-mail</dt><dd>${session.customer_email}</dd>`}</dl></section>
${errorMessage(message)}
<form method="post" action="/pay/checkout/${session.id}">
${buyerFields(provider, session)}
${methodFields(testMethodsFor(currency, session.payment_method_types), card)}
<button class="primary">Pay ${money(session.amount_total ?? 0, currency)}</button>${session.payment_method_collection === 'if_required' && html`<button name="without_card" value="1" formnovalidate>Start without a card</button>`}</form>`,
  });
}

function lineOf(provider: Provider, { price, quantity, currency }: LineItem) {
  const product = provider.state.products[price.product];
  return html`<h3>${product?.name ?? price.nickname ?? price.id}${quantity !== 1 && html` × ${quantity}`}</h3><p class="price">${priceText(priceIn(provider, price, currency))}</p>`;
}

function closedPage(session: CheckoutSession): string {
  const back = session.status === 'complete' ? session.success_url : session.cancel_url;
  return page({
    title: 'Checkout',
    width: 'narrow',
    body: html`<h1>${session.status === 'complete' ? 'This order has been paid' : 'This checkout has expired'}</h1>
<p>${session.status === 'complete' ? 'There is nothing left to pay here.' : 'Start again where you came from.'}</p>
${back && html`<p><a class="button" href="${back.replaceAll('{CHECKOUT_SESSION_ID}', session.id)}">Back</a></p>`}`,
  });
}
