import { priceIn } from '../catalogue/price-currencies.ts';
import { type Html, html } from '../http/html.ts';
import { dateText } from '../http/time-text.ts';
import { methodFields } from '../pages/method-fields.ts';
import { priceText } from '../pages/money.ts';
import type { Provider } from '../provider/provider.ts';
import type { PortalSession, Price, Subscription } from '../provider/records.ts';
import { periodEnd } from '../subscriptions/end-subscription.ts';
import { methodsInPortal, otherPrices, waitsForPeriodEnd } from './portal.ts';
import { button, cardText, changeText, customerPanel, homeBody } from './portal-home.ts';

/** Renders the page of a session's flow. */
export function flowBody(provider: Provider, session: PortalSession, flow: NonNullable<PortalSession['flow']>): Html {
  const id =
    flow.subscription_cancel?.subscription ??
    flow.subscription_update?.subscription ??
    flow.subscription_update_confirm?.subscription;
  const subscription = provider.state.subscriptions[id ?? ''];
  if (flow.type === 'payment_method_update') return cardTask(provider, session);
  if (flow.type === 'customer_update') return customerPanel(provider, session);
  if (!subscription) return homeBody(provider, session);
  if (flow.type === 'subscription_cancel') return cancelTask(provider, session, subscription);
  if (flow.type === 'subscription_update') return choiceTask(provider, session, subscription);
  if (flow.type === 'subscription_update_confirm') return confirmTask(provider, session, flow, subscription);
  return homeBody(provider, session);
}

function cardTask(provider: Provider, session: PortalSession): Html {
  return html`<h2>Change your card</h2><p>${cardText(provider, session)}</p>
<form method="post" action="/pay/portal/${session.id}"><input type="hidden" name="act" value="card">${methodFields(methodsInPortal(provider, session))}<button class="primary">Save card</button></form>`;
}

function cancelTask(provider: Provider, session: PortalSession, subscription: Subscription): Html {
  const name = nameOf(provider, subscription.items.data[0]?.price);
  return html`<h2>Cancel ${name}</h2><p>Your plan stays until ${dateText(periodEnd(subscription))}.</p>
${button(session, 'cancel', subscription.id, `Cancel ${name}`, true)}`;
}

function choiceTask(provider: Provider, session: PortalSession, subscription: Subscription): Html {
  const others = otherPrices(provider, session, subscription);
  return html`<h2>Change plan</h2>${others.map((price) => planForm(provider, session, subscription, price))}`;
}

function confirmTask(
  provider: Provider,
  session: PortalSession,
  flow: NonNullable<PortalSession['flow']>,
  subscription: Subscription,
): Html {
  const [wanted] = flow.subscription_update_confirm?.items ?? [];
  const price = provider.state.prices[wanted?.price ?? ''];
  const current = subscription.items.data[0]?.price;
  if (!price || !current) return homeBody(provider, session);
  const later = waitsForPeriodEnd(provider, session, subscription, price.id, wanted?.quantity);
  return html`<h2>Confirm your new plan</h2>
<dl><dt>Now</dt><dd>${nameOf(provider, current)}, ${priceText(priceIn(provider, current, subscription.currency))}</dd><dt>From ${later ? dateText(periodEnd(subscription)) : 'today'}</dt><dd>${nameOf(provider, price)}, ${priceText(priceIn(provider, price, subscription.currency))}</dd></dl>
<p>${later ? 'Nothing is charged now.' : changeText(provider, session)} ${cardText(provider, session)}</p>
${planForm(provider, session, subscription, price, wanted?.quantity)}`;
}

function planForm(
  provider: Provider,
  session: PortalSession,
  subscription: Subscription,
  price: Price,
  quantity = 1,
): Html {
  return html`<form method="post" action="/pay/portal/${session.id}"><input type="hidden" name="act" value="plan"><input type="hidden" name="subscription" value="${subscription.id}"><input type="hidden" name="price" value="${price.id}"><input type="hidden" name="quantity" value="${quantity}"><button class="primary">Change to ${nameOf(provider, price)}</button></form>`;
}

function nameOf(provider: Provider, price: Price | undefined): string {
  return provider.state.products[price?.product ?? '']?.name ?? price?.nickname ?? 'plan';
}
