import { fields, seconds } from '../untrusted-json.ts';
import type { Ask } from './connection.ts';
import { readInvoiceState } from './invoices.ts';
import { readSubscriptionState } from './subscription-state.ts';

/** The item of a subscription that a change of plan gives another price. `periodEnd` in seconds. */
export type ChangedItem = { subscription: string; id: string; quantity: number; periodEnd: number };

/**
 * Returns the item of a subscription that has only one; null for any other, which the portal does not change.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function changedItem(ask: Ask, subscription: string): Promise<ChangedItem | null> {
  const state = readSubscriptionState(await ask((provider) => provider.subscriptions.retrieve(subscription)));
  const [item, ...others] = state?.items ?? [];
  const periodEnd = state?.currentPeriodEnd ?? null;
  if (item?.id == null || others.length > 0 || periodEnd === null) return null;
  return { subscription, id: item.id, quantity: item.quantity, periodEnd };
}

/**
 * Returns what a change to a price charges at once, in minor units with tax, discounts and credit, and the second until
 * which that pays. An estimate: it holds for the moment in which it is asked. Null if the provider's answer does not
 * tell it.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function previewChange(
  ask: Ask,
  { subscription, id, quantity, periodEnd }: ChangedItem,
  price: string,
): Promise<{ amount: number; until: number } | null> {
  const details = { items: [{ id, price, quantity }], proration_behavior: 'always_invoice' as const };
  const preview = await ask((provider) =>
    provider.invoices.createPreview({ subscription, subscription_details: details }),
  );
  const { amountDue } = readInvoiceState(preview);
  const periods = preview.lines.data.map((line) => fields(line.period));
  const [starts, ends] = [
    periods.map((period) => seconds(period?.start)),
    periods.map((period) => seconds(period?.end)),
  ];
  if (amountDue === null || starts.includes(null) || ends.includes(null)) return null;

  // Where the change itself is not invoiced, as in a trial, the preview is the invoice of the next period.
  const isLater = starts.map((start) => Number(start) >= periodEnd);
  if (isLater.every(Boolean)) return { amount: 0, until: periodEnd };
  return isLater.includes(true) ? null : { amount: amountDue, until: Math.max(...ends.map(Number)) };
}
