import { formatDate } from '#lib/format/dates.ts';
import { formatFullAmount } from '#lib/format/money.ts';

type Change = NonNullable<Awaited<ReturnType<App.Locals['api']['operators']['event']>>['change']>;
type SubscriptionChange = Extract<Change, { kind: 'subscription' }>;

/** "status past_due, was active; ends on 3 December 2026", "£24.00 paid" */
export function changeText(change: Change): string {
  return change.kind === 'invoice' ? invoiceText(change) : subscriptionText(change);
}

function invoiceText({ amount_due, amount_paid, currency }: Extract<Change, { kind: 'invoice' }>): string {
  return amount_paid === null
    ? `${formatFullAmount({ amount: amount_due, currency })} due`
    : `${formatFullAmount({ amount: amount_paid, currency })} paid`;
}

function subscriptionText({ status, previous_status, price, end, current_period_end }: SubscriptionChange): string {
  return [
    `status ${status}${previous_status === null ? '' : `, was ${previous_status}`}`,
    price && `price ${price.current}, was ${price.previous}`,
    end && endText(end),
    current_period_end && `period until ${dayText(current_period_end.at)}`,
  ]
    .filter(Boolean)
    .join('; ');
}

function endText(end: NonNullable<SubscriptionChange['end']>): string {
  if (end.change === 'withdrawn') return 'no longer ends';
  return end.at === null ? 'ends with the period' : `ends on ${formatDate(end.at)}`;
}

function dayText(at: string | null): string {
  return at === null ? 'with the period' : formatDate(at);
}
