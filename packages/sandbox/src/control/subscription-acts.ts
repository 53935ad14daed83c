import { type Html, html } from '@gatehouse/payment-sandbox/http/html';
import { dateText } from '@gatehouse/payment-sandbox/http/time-text';
import type { PaymentProvider } from '@gatehouse/payment-sandbox/payment-controls';
import type { Subscription } from '@gatehouse/payment-sandbox/provider/records';

const behaviours = { keep_as_draft: 'keep drafts', void: 'void', mark_uncollectible: 'write off' };

/** Renders what the company can do with a subscription: schedule a change of plan, and pause its collection. */
export function subscriptionActs(payment: PaymentProvider, subscription: Subscription): Html | null {
  if (subscription.ended_at !== null) return null;
  return html`<div class="actions">${scheduleForm(payment, subscription)}${pauseForm(subscription)}</div>`;
}

function scheduleForm(payment: PaymentProvider, { id, schedule, items }: Subscription): Html | null {
  const { subscription_schedules: schedules, prices, products } = payment.state();
  const planned = schedules[schedule ?? '']?.phases.at(-1);
  if (planned) {
    const name = products[prices[planned.items[0]?.price ?? '']?.product ?? '']?.name;
    return form(
      id,
      html`<span>${name} from ${dateText(planned.start_date)}</span> <button name="act" value="release">Release</button>`,
    );
  }
  const [item, ...others] = items.data;
  if (!item || others.length > 0) return null;
  const offered = Object.values(prices).filter(
    (price) => price.active && price.recurring && price.id !== item.price.id,
  );
  return form(
    id,
    html`<select name="price" aria-label="Plan of ${id} at the end of the period">${offered.map(
      (price) => html`<option value="${price.id}">${products[price.product]?.name ?? price.id}</option>`,
    )}</select> <button name="act" value="schedule">Change at period end</button>`,
  );
}

function pauseForm({ id, pause_collection: pause }: Subscription): Html {
  if (pause)
    return form(id, html`<span>Collection is paused</span> <button name="act" value="collect">Collect again</button>`);
  return form(
    id,
    html`<select name="behavior" aria-label="Invoices of ${id} while collection is paused">${Object.entries(
      behaviours,
    ).map(
      ([behaviour, label]) => html`<option value="${behaviour}">${label}</option>`,
    )}</select> <button name="act" value="pause">Pause collection</button>`,
  );
}

function form(id: string, body: Html): Html {
  return html`<form method="post" action="/control/subscription"><input type="hidden" name="subscription" value="${id}">${body}</form>`;
}

/**
 * Acts on a subscription: `{subscription, act, price?, behavior?, days_until_due?}`.
 *
 * @throws Error if the act is unknown, or the subscription does not allow it.
 */
export function actOnSubscription(payment: PaymentProvider, fields: Record<string, unknown>): object {
  const subscription = String(fields.subscription ?? '');
  switch (fields.act) {
    case 'schedule':
      return payment.scheduleChange(subscription, String(fields.price ?? ''));
    case 'release':
      payment.releaseSchedule(subscription);
      return { ok: true, message: 'The schedule has been released.' };
    case 'pause':
      return payment.pauseCollection(subscription, behaviourOf(fields.behavior));
    case 'collect':
      return payment.pauseCollection(subscription, null);
    case 'send_invoices':
      return payment.sendInvoices(subscription, Number(fields.days_until_due));
    default:
      throw new Error('That cannot be done with a subscription.');
  }
}

function behaviourOf(value: unknown): keyof typeof behaviours {
  const found = Object.keys(behaviours).find((name) => name === value);
  if (found === undefined) throw new Error('A paused collection keeps drafts, voids or writes off.');
  return found as keyof typeof behaviours;
}
