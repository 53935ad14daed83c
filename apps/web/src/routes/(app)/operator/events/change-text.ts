import { formatDate } from '#lib/format/dates.ts';
import { formatFullAmount } from '#lib/format/money.ts';
import { texts } from '#lib/language/texts.ts';

type Change = NonNullable<Awaited<ReturnType<App.Locals['api']['operators']['event']>>['change']>;
type SubscriptionChange = Extract<Change, { kind: 'subscription' }>;

/** "Status past due, was active; ends on 3 December 2026", "£24.00 paid" */
export function changeText(change: Change): string {
  if (change.kind === 'money') return moneyText(change);
  return change.kind === 'invoice' ? invoiceText(change) : subscriptionText(change);
}

/**
 * "past due": a status of the provider within a sentence. An unknown status is shown with spaces in place of
 * underscores.
 */
export function subscriptionStatus(status: string): string {
  const known = texts('change').status;
  return Object.hasOwn(known, status) ? known[status as keyof typeof known] : status.replaceAll('_', ' ');
}

/** "£5.00, needs response, fraudulent": the provider's own words, which the dashboard shows too. */
function moneyText({ amount, currency, status, reason }: Extract<Change, { kind: 'money' }>): string {
  const money = amount === null || currency === null ? null : formatFullAmount({ amount, currency });
  return [money, status, reason]
    .filter((part) => part !== null)
    .map((part) => part.replaceAll('_', ' '))
    .join(', ');
}

function invoiceText({ amount_due, amount_paid, currency }: Extract<Change, { kind: 'invoice' }>): string {
  const t = texts('change');
  return amount_paid === null
    ? t.due({ amount: formatFullAmount({ amount: amount_due, currency }) })
    : t.paid({ amount: formatFullAmount({ amount: amount_paid, currency }) });
}

function subscriptionText({ status, previous_status, price, end, current_period_end }: SubscriptionChange): string {
  const t = texts('change');
  const now = subscriptionStatus(status);
  return [
    previous_status === null
      ? t.statusIs({ status: now })
      : t.statusWas({ status: now, before: subscriptionStatus(previous_status) }),
    price && t.priceWas({ price: price.current ?? t.noPrice, before: price.previous ?? t.noPrice }),
    end && endText(end),
    current_period_end && periodText(current_period_end.at),
  ]
    .filter(Boolean)
    .join('; ');
}

function endText(end: NonNullable<SubscriptionChange['end']>): string {
  const t = texts('change');
  if (end.change === 'withdrawn') return t.noLongerEnds;
  return end.at === null ? t.endsWithPeriod : t.endsOn({ day: formatDate(end.at) });
}

function periodText(at: string | null): string {
  const t = texts('change');
  return at === null ? t.withPeriod : t.periodUntil({ day: formatDate(at) });
}
