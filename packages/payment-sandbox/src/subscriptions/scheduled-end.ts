import { announce } from '../events/announce.ts';
import { draftInvoice } from '../invoices/invoice.ts';
import type { Provider } from '../provider/provider.ts';
import type { Subscription } from '../provider/records.ts';
import { endSubscription } from './end-subscription.ts';

const hour = 3600;

/**
 * Ends a subscription as it was scheduled. Prorations that still wait to be billed are
 * collected by a last invoice, which is charged an hour later; a cancellation at once drops them.
 */
export function endAsScheduled(provider: Provider, subscription: Subscription, at: number): void {
  const waiting = provider.state.pending_lines[subscription.id] ?? [];
  const last = waiting.length > 0 ? draftInvoice(provider, subscription, 'subscription_cycle', { lines: [] }) : null;
  if (last) subscription.latest_invoice = last.id;
  endSubscription(provider, subscription, 'cancellation_requested', at);
  if (!last) return;

  // The end of a subscription stops the collection of its other invoices, not of this one.
  last.auto_advance = true;
  last.automatically_finalizes_at = at + hour;
  announce(provider, 'invoice.created', last);
}
