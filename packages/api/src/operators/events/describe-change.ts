import { type Fields, fields, seconds, text } from '../../billing/projection/fields.ts';
import { undo } from '../../billing/projection/previous-state.ts';
import { readSubscriptionState, type SubscriptionState } from '../../billing/projection/subscription-state.ts';
import { formatAmount } from '../../providers/minor-units.ts';

/**
 * What an event of the provider says, in a few words for an operator: of a subscription
 * where it stands and what that was before, of an invoice how much is due. Null where
 * there is nothing that its type does not say already.
 */
export function tellChange(type: string, payload: string): string | null {
  const data = fields(fields(parse(payload))?.data);
  const object = fields(data?.object);
  if (object === null) return null;

  if (type.startsWith('customer.subscription.')) return ofSubscription(object, fields(data?.previous_attributes));
  if (type.startsWith('invoice.')) return ofInvoice(object);
  return null;
}

function parse(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return null;
  }
}

function ofSubscription(object: Fields, previous: Fields | null): string | null {
  const now = readSubscriptionState(object);
  if (now === null) return null;
  const before = previous && readSubscriptionState(undo(object, previous));

  const told = [`status ${now.status}${before && before.status !== now.status ? `, was ${before.status}` : ''}`];
  if (before && priceOf(before) !== priceOf(now)) told.push(`price ${priceOf(now)}, was ${priceOf(before)}`);
  if (now.scheduled) told.push(`ends ${now.endsAt === null ? '' : 'on '}${day(now.endsAt)}`);
  else if (before?.scheduled) told.push('no end any more');
  if (before && before.currentPeriodEnd !== now.currentPeriodEnd)
    told.push(`period until ${day(now.currentPeriodEnd)}`);
  return told.join('; ');
}

function priceOf({ items }: SubscriptionState): string | null {
  return items[0]?.lookupKey ?? items[0]?.priceId ?? null;
}

const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

function day(moment: number | null): string {
  return moment === null ? 'with the period' : date.format(new Date(moment * 1000));
}

function ofInvoice(object: Fields): string | null {
  const amount = seconds(object.amount_due);
  const currency = text(object.currency);
  if (amount === null || currency === null || !/^[a-z]{3}$/i.test(currency)) return null;

  return `${formatAmount({ amount, currency })} due`;
}
