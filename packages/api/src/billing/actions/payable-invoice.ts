import { type Ask, complaintOf } from '../../providers/payment.ts';
import type { SubscriptionState } from '../projection/subscription-state.ts';

/**
 * The hosted page of the invoice whose payment brings a subscription back: its newest open
 * one. Of an unpaid subscription only the newest invoice does that; where it is still a
 * draft, it is finalised without being charged to the stored card. Null where no invoice
 * can be paid.
 */
export async function payableInvoice(
  ask: Ask,
  { id, status }: Pick<SubscriptionState, 'id' | 'status'>,
): Promise<string | null> {
  if (status === 'unpaid') return newestInvoice(ask, id);
  const { data } = await ask((provider) => provider.invoices.list({ subscription: id, status: 'open', limit: 10 }));
  return data.find((invoice) => invoice.hosted_invoice_url)?.hosted_invoice_url ?? null;
}

/** One that was voided leaves the decision to the invoice before it. */
async function newestInvoice(ask: Ask, subscription: string): Promise<string | null> {
  const { data } = await ask((provider) => provider.invoices.list({ subscription, limit: 100 }));
  const newest = data.find(({ status }) => status !== 'void');
  if (newest === undefined) return null;

  const { status, hosted_invoice_url: page } = newest.status === 'draft' ? await finalise(ask, newest.id) : newest;
  return (status === 'open' || status === 'uncollectible') && page ? page : null;
}

async function finalise(ask: Ask, id: string) {
  try {
    return await ask((provider) => provider.invoices.finalizeInvoice(id, { auto_advance: false }));
  } catch (error) {
    // Another request or the provider itself was faster: the invoice is a draft no longer.
    if (complaintOf(error)?.status !== 400) throw error;
    return ask((provider) => provider.invoices.retrieve(id));
  }
}
