import { priceIn } from '../catalogue/price-currencies.ts';
import { last4Of } from '../customers/test-methods.ts';
import { type Html, html } from '../http/html.ts';
import { dateText } from '../http/time-text.ts';
import { methodFields } from '../pages/method-fields.ts';
import { money, priceText } from '../pages/money.ts';
import type { Provider } from '../provider/provider.ts';
import type { PortalSession, Subscription } from '../provider/records.ts';
import { periodEnd } from '../subscriptions/end-subscription.ts';
import { configurationOf, methodsInPortal, otherPrices, subscriptionsOf } from './portal.ts';

/** Renders the home page: the plans, card and invoices that the configuration enables. */
export function homeBody(provider: Provider, session: PortalSession): Html {
  const { features } = configurationOf(provider, session);
  const subscriptions = subscriptionsOf(provider, session);
  return html`${subscriptions.length === 0 && html`<p class="panel">There is no plan.</p>`}
${subscriptions.map((subscription) => planPanel(provider, session, subscription))}
${features.payment_method_update.enabled && cardPanel(provider, session)}
${features.customer_update.enabled && customerPanel(provider, session)}
${features.invoice_history.enabled && invoicesPanel(provider, session)}`;
}

function planPanel(provider: Provider, session: PortalSession, subscription: Subscription): Html {
  const { features } = configurationOf(provider, session);
  const [item] = subscription.items.data;
  const name = provider.state.products[item?.price.product ?? '']?.name ?? 'Plan';
  const others = otherPrices(provider, session, subscription);
  const ends = subscription.cancel_at;
  const next = nextPlan(provider, subscription);
  return html`<section class="panel" aria-label="${name}"><h2>${name}</h2>
<p class="price">${item && priceText(priceIn(provider, item.price, subscription.currency))}</p>
<p>Status: ${subscription.status.replaceAll('_', ' ')}. ${ends === null ? html`Renews on ${dateText(periodEnd(subscription))}.` : html`<strong>Ends on ${dateText(ends)}.</strong>`} ${next}</p>
<div class="actions">${
    ends === null && next === null
      ? features.subscription_cancel.enabled && button(session, 'cancel', subscription.id, `Cancel ${name}`)
      : button(session, 'resume', subscription.id, `Keep ${name}`)
  }</div>
${
  features.subscription_update.enabled &&
  others.length > 0 &&
  html`<form method="post" action="/pay/portal/${session.id}"><input type="hidden" name="act" value="plan"><input type="hidden" name="subscription" value="${subscription.id}">
<div class="field"><label for="price-${subscription.id}">Change plan to</label><select id="price-${subscription.id}" name="price">${others.map(
    (price) =>
      html`<option value="${price.id}">${provider.state.products[price.product]?.name ?? price.id}, ${priceText(priceIn(provider, price, subscription.currency))}</option>`,
  )}</select></div><p class="soft">${changeText(provider, session)}</p><button>Change plan</button></form>`
}</section>`;
}

/** Returns a sentence about the change of plan that a schedule makes; null without one. */
function nextPlan(provider: Provider, subscription: Subscription): string | null {
  const schedule = provider.state.subscription_schedules[subscription.schedule ?? ''];
  const next = schedule?.phases.find(({ start_date: start }) => start === schedule.current_phase?.end_date);
  const price = provider.state.prices[next?.items[0]?.price ?? ''];
  if (!next || !price) return null;
  const name = provider.state.products[price.product]?.name ?? price.id;
  return `Changes to ${name} on ${dateText(next.start_date)}.`;
}

function cardPanel(provider: Provider, session: PortalSession): Html {
  return html`<section class="panel" aria-labelledby="card"><h2 id="card">Card</h2>
<p>${cardText(provider, session)}</p>
<form method="post" action="/pay/portal/${session.id}"><input type="hidden" name="act" value="card">${methodFields(methodsInPortal(provider, session))}<button>Change card</button></form></section>`;
}

export function customerPanel(provider: Provider, session: PortalSession): Html {
  const { allowed_updates: allowed } = configurationOf(provider, session).features.customer_update;
  const customer = provider.state.customers[session.customer];
  const fields = (['name', 'email'] as const).filter((name) => allowed.includes(name));
  return html`<section class="panel" aria-labelledby="details"><h2 id="details">Billing details</h2>
<form method="post" action="/pay/portal/${session.id}"><input type="hidden" name="act" value="customer">${fields.map(
    (name) =>
      html`<div class="field"><label for="customer-${name}">${name === 'name' ? 'Name' : 'E-mail'}</label><input id="customer-${name}" name="${name}" value="${customer?.[name] ?? ''}"></div>`,
  )}${
    allowed.includes('address') &&
    html`<div class="field"><label for="customer-country">Country (two letters)</label><input id="customer-country" name="country" value="${customer?.address?.country ?? ''}"></div>`
  }<button>Change details</button></form></section>`;
}

/** Returns a sentence that says when a change of plan is charged, by the configuration. */
export function changeText(provider: Provider, session: PortalSession): string {
  const proration = configurationOf(provider, session).features.subscription_update.proration_behavior;
  if (proration === 'always_invoice')
    return 'The difference for the rest of the period is charged now. A lower plan is credited to your next invoices.';
  if (proration === 'create_prorations') return 'Nothing is charged now. The difference is on your next invoice.';
  return 'Nothing is charged now. The new price applies from your next invoice.';
}

/**
 * Returns a sentence about what is charged: "Charged to a card that ends in 4242." A card that was saved for the
 * customer alone is named too.
 */
export function cardText(provider: Provider, session: PortalSession): string {
  const own = subscriptionsOf(provider, session)[0]?.default_payment_method ?? null;
  const standard = provider.state.customers[session.customer]?.invoice_settings.default_payment_method ?? null;
  const charged = nameOf(provider, own ?? standard);
  if (charged === null) return 'There is no card yet.';
  const saved = own === null || own === standard ? null : nameOf(provider, standard);
  return saved === null ? `Charged to ${charged}.` : `Charged to ${charged}. The default is ${saved}.`;
}

function nameOf(provider: Provider, id: string | null): string | null {
  const method = provider.state.payment_methods[id ?? ''];
  return method ? `a ${method.type === 'card' ? 'card' : 'bank account'} that ends in ${last4Of(method)}` : null;
}

function invoicesPanel(provider: Provider, session: PortalSession): Html {
  const invoices = Object.values(provider.state.invoices)
    .filter(({ customer, status }) => customer === session.customer && status !== 'draft')
    .toReversed()
    .slice(0, 24);
  return html`<section class="panel" aria-labelledby="invoices"><h2 id="invoices">Invoices</h2>
${invoices.length === 0 && html`<p class="soft">No invoice yet.</p>`}
<ul>${invoices.map(
    (invoice) =>
      html`<li><a href="/pay/invoice/${invoice.id}">${invoice.number}</a>, ${dateText(invoice.created)}: ${money(invoice.amount_due, invoice.currency)}, ${invoice.status === 'open' ? html`<strong>to be paid</strong>` : invoice.status}</li>`,
  )}</ul></section>`;
}

/** Renders a form with one button, which acts on a subscription. */
export function button(
  session: PortalSession,
  act: string,
  subscription: string,
  label: string,
  primary = false,
): Html {
  return html`<form method="post" action="/pay/portal/${session.id}"><input type="hidden" name="act" value="${act}"><input type="hidden" name="subscription" value="${subscription}"><button${primary && html` class="primary"`}>${label}</button></form>`;
}
