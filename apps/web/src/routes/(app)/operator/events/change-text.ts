import { formatDate } from '#lib/format/dates.ts';
import { formatFullAmount } from '#lib/format/money.ts';

type Change = NonNullable<Awaited<ReturnType<App.Locals['api']['operators']['event']>>['change']>;
type SubscriptionChange = Extract<Change, { kind: 'subscription' }>;

/** "status past_due, was active; ends on 3 December 2026", "£24.00 due" */
export function changeText(change: Change): string {
  return change.kind === 'invoice'
    ? `${formatFullAmount({ amount: change.amount_due, currency: change.currency })} due`
    : subscriptionText(change);
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
  if (end.change === 'withdrawn') return 'no end any more';
  return end.at === null ? 'ends with the period' : `ends on ${formatDate(end.at)}`;
}

function dayText(at: string | null): string {
  return at === null ? 'with the period' : formatDate(at);
}
