import { change } from '../events/announce.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice, Subscription } from '../provider/records.ts';

/**
 * Sets the status of a subscription by its newest invoice that is not void: paid makes it active, uncollectible too if
 * it is past due, a failed payment makes it past due. A draft decides nothing, so that paying an older invoice revives nothing. Called
 * after an invoice was paid, voided or marked as uncollectible.
 */
export function followInvoices(provider: Provider, subscription: Subscription): void {
  const newest = newestInvoice(provider, subscription);
  const status = statusAfter(provider, subscription, newest);
  if (status === null || status === subscription.status) return;
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.status = status;
  });
}

function newestInvoice(provider: Provider, { id }: Subscription): Invoice | undefined {
  return Object.values(provider.state.invoices).findLast(
    ({ parent, status }) => parent.subscription_details.subscription === id && status !== 'void',
  );
}

function statusAfter(
  provider: Provider,
  { status }: Subscription,
  newest: Invoice | undefined,
): 'active' | 'past_due' | null {
  if (status === 'incomplete') return newest?.status === 'paid' ? 'active' : null;
  if (status !== 'active' && status !== 'past_due' && status !== 'unpaid') return null;
  if (newest === undefined || newest.status === 'paid') return 'active';
  if (newest.status === 'uncollectible') return status === 'past_due' ? 'active' : null;
  const failed = newest.status === 'open' && newest.attempted && !provider.state.debits[newest.id];
  return failed && status === 'active' ? 'past_due' : null;
}
