import { type Html, html } from '@gatehouse/payment-sandbox/http/html';
import { page } from '@gatehouse/payment-sandbox/http/page';
import { dateText, momentText } from '@gatehouse/payment-sandbox/http/time-text';
import { priceText } from '@gatehouse/payment-sandbox/pages/money';
import type { PaymentProvider } from '@gatehouse/payment-sandbox/payment-controls';
import type { Delivery } from '@gatehouse/payment-sandbox/provider/bookkeeping';
import type { Subscription } from '@gatehouse/payment-sandbox/provider/records';
import { periodEnd } from '@gatehouse/payment-sandbox/subscriptions/end-subscription';
import { cardChoice } from './card-choice.ts';
import { invoicesTable } from './invoices-table.ts';
import { subscriptionActs } from './subscription-acts.ts';
import { switchForm } from './switch-form.ts';

const shown = 60;

/** Renders the control page of the payment provider: clock, subscriptions, switches and deliveries. */
export function controlPage(payment: PaymentProvider, message: string | null): string {
  const next = payment.clock.next();
  const { subscriptions, invoices } = payment.state();
  return page({
    title: 'Payments',
    body: html`<h1>Payments</h1>
${message && html`<p class="note" role="status">${message}</p>`}
<section class="panel" aria-labelledby="clock"><h2 id="clock">Clock</h2>
<p>The provider’s time is <strong>${momentText(payment.clock.now())}</strong>. ${next ? html`Next, on ${momentText(next.at)}: ${next.about}.` : 'Nothing is due.'}</p>
<div class="actions">${[
      clockButton({ to: 'next' }, 'To the next step', true),
      clockButton({ to: 'period_end' }, 'To the end of the period'),
      clockButton({ hours: '1' }, 'One hour ahead'),
      clockButton({ days: '1' }, 'One day ahead'),
      clockButton({ days: '7' }, 'Seven days ahead'),
    ]}</div></section>
${subscriptionsTable(payment, Object.values(subscriptions).toReversed().slice(0, shown))}
${invoicesTable(payment, Object.values(invoices).toReversed().slice(0, shown))}
<section class="panel" aria-labelledby="switches"><h2 id="switches">Switches</h2>${switchForm(payment.switches())}</section>
${deliveriesTable(payment.deliveries.list().toReversed().slice(0, shown))}
<div class="actions"><form method="post" action="/control/deliveries/send-dropped"><button>Send dropped deliveries</button></form>
<form method="post" action="/control/deliveries/retry-now"><button>Retry waiting deliveries now</button></form>
${endpointForm(payment)}</div>
<section class="panel" aria-labelledby="reset"><h2 id="reset">Reset</h2><p>Deletes every customer, subscription and event, and resets the clock and the switches. The service keeps its own records.</p>
<form method="post" action="/control/reset"><button>Delete everything</button></form></section>`,
  });
}

function endpointForm(payment: PaymentProvider): Html {
  const disabled = Object.values(payment.state().webhook_endpoints)[0]?.status === 'disabled';
  return html`<form method="post" action="/control/endpoint"><button name="disabled" value="${String(!disabled)}">${disabled ? 'Enable' : 'Disable'} the webhook endpoint</button></form>`;
}

function clockButton(fields: Record<string, string>, label: string, primary = false): Html {
  return html`<form method="post" action="/control/clock">${Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}<button${primary && html` class="primary"`}>${label}</button></form>`;
}

function subscriptionsTable(payment: PaymentProvider, subscriptions: Subscription[]): Html {
  if (subscriptions.length === 0)
    return html`<p class="panel">No subscription yet. Buy a plan in the service to create one.</p>`;
  return html`<div class="scroll" role="region" aria-label="Subscriptions" tabindex="0"><table><caption>Subscriptions</caption><thead><tr><th scope="col">Subscription</th><th scope="col">Price</th><th scope="col">Status</th><th scope="col">Period</th><th scope="col">Card, and what the company does</th></tr></thead><tbody>${subscriptions.map(
    (one) =>
      html`<tr><td><code>${one.id}</code><br><span class="soft">${one.customer}</span></td><td>${one.items.data.map(({ price }) => priceText(price))}</td><td>${one.status.replaceAll('_', ' ')}</td><td>${periodText(one)}</td><td>${cardChoice(payment.state(), one)}${subscriptionActs(payment, one)}</td></tr>`,
  )}</tbody></table></div>`;
}

function periodText(subscription: Subscription): string {
  if (subscription.ended_at !== null) return `ended on ${dateText(subscription.ended_at)}`;
  if (subscription.cancel_at !== null) {
    return `ends on ${dateText(subscription.cancel_at)} (${subscription.cancel_at_period_end ? 'cancel_at_period_end' : 'cancel_at'})`;
  }
  return `until ${dateText(periodEnd(subscription))}`;
}

function deliveriesTable(deliveries: Delivery[]): Html {
  if (deliveries.length === 0)
    return html`<p class="panel">No delivery yet. Each event that is sent to the service is listed here.</p>`;
  return html`<div class="scroll" role="region" aria-label="Deliveries" tabindex="0"><table><caption>Deliveries, newest first</caption><thead><tr><th scope="col">Event</th><th scope="col">State</th><th scope="col">Last answer</th><th scope="col"><span class="soft">Again</span></th></tr></thead><tbody>${deliveries.map(
    (delivery) =>
      html`<tr><td>${delivery.type}<br><code class="soft">${delivery.event}</code></td><td>${stateText(delivery)}</td><td>${lastAnswer(delivery)}</td><td><form method="post" action="/control/deliveries/resend"><input type="hidden" name="id" value="${delivery.id}"><button aria-label="Resend ${delivery.type}">Resend</button></form></td></tr>`,
  )}</tbody></table></div>`;
}

function stateText({ state, attempts }: Delivery): string {
  if (state === 'waiting' && attempts.length > 0) return `failed ${attempts.length} times, will be retried`;
  return { waiting: 'waiting', delivered: 'delivered', failed: 'failed after the last attempt', dropped: 'not sent' }[
    state
  ];
}

function lastAnswer({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  return last ? `${last.status ?? 'none'} ${last.answer.slice(0, 120)} (${last.ms} ms)` : '';
}
