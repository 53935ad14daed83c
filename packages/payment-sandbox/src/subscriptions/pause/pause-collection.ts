import type Stripe from 'stripe';
import { change } from '../../events/announce.ts';
import { finalizeInvoice } from '../../invoices/draft-invoice.ts';
import { markUncollectible, voidInvoice } from '../../invoices/settle-invoice.ts';
import type { Provider } from '../../provider/provider.ts';
import type { Invoice, Subscription } from '../../provider/records.ts';
import type { Step } from '../../provider/step.ts';
import type { Rule } from '../../routing/parameters.ts';

/** The parameter that pauses the collection of a subscription's invoices; '' ends the pause. */
export const pauseCollectionRule: Rule = {
  either: [
    { one: [''] },
    {
      hash: { behavior: { one: ['keep_as_draft', 'mark_uncollectible', 'void'] }, resumes_at: 'integer' },
      required: ['behavior'],
    },
  ],
};

/** Returns the value that the parameter gives a subscription. */
export function readPauseCollection(
  params: Stripe.Emptyable<Stripe.SubscriptionUpdateParams.PauseCollection>,
): Subscription['pause_collection'] {
  if (params === '' || params === null) return null;
  return { behavior: params.behavior, resumes_at: params.resumes_at ?? null };
}

/**
 * Does with an invoice what a paused collection says, instead of charging it: it stays a draft, or is
 * finalised and then voided or marked as uncollectible. The subscription stays active.
 */
export function holdInvoice(provider: Provider, invoice: Invoice, behavior: string): void {
  if (behavior === 'keep_as_draft') {
    invoice.auto_advance = false;
    invoice.automatically_finalizes_at = null;
    return;
  }
  finalizeInvoice(provider, invoice);
  if (behavior === 'void') voidInvoice(provider, invoice);
  else markUncollectible(provider, invoice, 'subscription_paused');
}

/** Yields the time at which collection resumes. Invoices that were kept as drafts stay drafts. */
export function* stepsOfPausedCollection(provider: Provider, subscription: Subscription): Generator<Step> {
  const at = subscription.pause_collection?.resumes_at ?? null;
  if (at === null) return;
  const run = () => {
    change(provider, 'customer.subscription.updated', subscription, () => {
      subscription.pause_collection = null;
    });
  };
  yield { at, about: 'the collection of invoices resumes', run };
}
