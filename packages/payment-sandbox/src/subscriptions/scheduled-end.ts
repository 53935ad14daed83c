import { announce } from '../events/announce.ts';
import { draftInvoice } from '../invoices/draft-invoice.ts';
import { hourSeconds } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Subscription } from '../provider/records.ts';
import { endSubscription } from './end-subscription.ts';

/**
 * Ends a subscription at its scheduled time. Prorations that wait for the next invoice become a
 * last invoice, which is charged an hour later. An immediate cancellation drops them instead.
 */
export function endAsScheduled(provider: Provider, subscription: Subscription, at: number): void {
  const waiting = provider.state.pending_lines[subscription.id] ?? [];
  const last = waiting.length > 0 ? draftInvoice(provider, subscription, 'subscription_cycle', { lines: [] }) : null;
  if (last) subscription.latest_invoice = last.id;
  endSubscription(provider, subscription, 'cancellation_requested', at);
  if (!last) return;

  // endSubscription stops the collection of all invoices; this one is collected.
  last.auto_advance = true;
  last.automatically_finalizes_at = at + hourSeconds;
  announce(provider, 'invoice.created', last);
}
