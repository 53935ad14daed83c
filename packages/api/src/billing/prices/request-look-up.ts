import { eq, or } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { paymentKnownPrices, paymentLivePrices } from '../../platform/db/schema/billing.ts';
import { idOf, textOf } from '../../platform/providers/untrusted-json.ts';
import { applied, type EventOutcome, eventOutcomes } from '../events/event-store.ts';
import type { PaymentEvent } from '../subscription/provider-objects.ts';

/**
 * Enqueues a look-up of the prices for after the commit; the last known ones apply until then.
 * An event about any price causes it, because a lookup key may have moved to a new price.
 * The outcome is `not_ours` for a price of no tier.
 */
export async function requestPriceLookUp(
  app: App,
  tx: Transaction,
  { type, object }: PaymentEvent,
): Promise<EventOutcome> {
  await tx.update(paymentLivePrices).set({ lookedUpAt: null });
  await app.jobs.send(tx, 'payment-prices', {}, { key: 'prices' });

  const names = Object.values(app.plans.priceNames);
  const isNamed = names.includes(textOf(object.lookup_key) ?? '') || names.includes(textOf(object.id) ?? '');
  if (isNamed) return applied;

  const productId = type.startsWith('product.') ? textOf(object.id) : idOf(object.product);
  const [known] = await tx
    .select({ tier: paymentKnownPrices.tier })
    .from(paymentKnownPrices)
    .where(
      or(eq(paymentKnownPrices.priceId, textOf(object.id) ?? ''), eq(paymentKnownPrices.productId, productId ?? '')),
    )
    .limit(1);
  return known === undefined ? eventOutcomes.not_ours : applied;
}
