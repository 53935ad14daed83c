import { type Ask, providerErrorOf } from '../../platform/providers/payment.ts';
import type { SubscriptionState } from '../subscription/provider-objects.ts';

/**
 * Returns the hosted page of the invoice whose payment reactivates a subscription: the newest
 * open one. An unpaid subscription is reactivated by its newest invoice alone; if that is a
 * draft, it is finalised without a charge to the stored card. Null if no invoice can be paid.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function payableInvoice(
  ask: Ask,
  { id, status }: Pick<SubscriptionState, 'id' | 'status'>,
): Promise<string | null> {
  if (status === 'unpaid') return newestInvoice(ask, id);
  const { data } = await ask((provider) => provider.invoices.list({ subscription: id, status: 'open', limit: 10 }));
  return data.find((invoice) => invoice.hosted_invoice_url)?.hosted_invoice_url ?? null;
}

/** Skips voided invoices. */
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
    // Another request or the provider has finalised the invoice meanwhile.
    if (providerErrorOf(error)?.status !== 400) throw error;
    return ask((provider) => provider.invoices.retrieve(id));
  }
}
