import { announce, change } from '../events/announce.ts';
import { daySeconds, timeOfCustomer } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { Charge, Refund } from '../provider/records.ts';
import type { Step } from '../provider/step.ts';
import { refused } from '../routing/api-error.ts';

const daysUntilBankRefund = 5;

interface RefundTerms {
  /** In minor units; by default all that is left. */
  amount?: number | undefined;
  reason?: Refund['reason'] | undefined;
  metadata?: Record<string, string>;
}

/**
 * Refunds a charge, in part or all of it. A card gets it at once, a bank account five days later.
 * The invoice stays paid and the subscription is not changed, as at the real provider.
 *
 * @throws ApiError if more is asked than is left, or the charge is disputed.
 */
export function refundCharge(provider: Provider, charge: Charge, terms: RefundTerms = {}): Refund {
  const left = charge.amount - charge.amount_refunded;
  const amount = terms.amount ?? left;
  if (left === 0) {
    throw refused(`Charge ${charge.id} has already been refunded.`, { code: 'charge_already_refunded' });
  }
  if (amount < 1 || amount > left) {
    throw refused(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left}).`, {
      param: 'amount',
    });
  }
  if (charge.disputed) {
    throw refused(`Charge ${charge.id} has been charged back; cannot issue a refund.`, { code: 'charge_disputed' });
  }

  const isCard = charge.payment_method_details?.type === 'card';
  const refund = newRefund(provider, charge, amount, { ...terms, status: isCard ? 'succeeded' : 'pending' });
  provider.state.refunds[refund.id] = refund;
  announce(provider, 'refund.created', refund);
  change(provider, 'charge.refunded', charge, () => addRefunded(charge, amount));
  return refund;
}

/**
 * Lets a refund fail after all, as when a card has been closed: the amount is not refunded.
 *
 * @throws ApiError if it has failed already.
 */
export function failRefund(provider: Provider, refund: Refund): Refund {
  if (refund.status === 'failed') throw refused(`The refund ${refund.id} has failed already.`);
  refund.status = 'failed';
  refund.failure_reason = 'expired_or_canceled_card';
  announce(provider, 'refund.failed', refund);
  announce(provider, 'refund.updated', refund);
  const charge = provider.state.charges[refund.charge];
  if (charge) change(provider, 'charge.updated', charge, () => addRefunded(charge, -refund.amount));
  return refund;
}

/** Yields the arrival of a refund at a bank account. */
export function* stepsOfRefund(provider: Provider, refund: Refund): Generator<Step> {
  if (refund.status !== 'pending') return;
  const run = () => {
    change(provider, 'refund.updated', refund, () => {
      refund.status = 'succeeded';
    });
  };
  yield { at: refund.created + daysUntilBankRefund * daySeconds, about: 'a refund arrives', run };
}

function addRefunded(charge: Charge, amount: number): void {
  charge.amount_refunded += amount;
  charge.refunded = charge.amount_refunded === charge.amount;
}

function newRefund(
  provider: Provider,
  charge: Charge,
  amount: number,
  { reason = null, metadata = {}, status }: RefundTerms & { status: string },
): Refund {
  return {
    id: newId('re'),
    object: 'refund',
    amount,
    balance_transaction: null,
    charge: charge.id,
    created: timeOfCustomer(provider, charge.customer),
    currency: charge.currency,
    customer: charge.customer,
    customer_account: null,
    metadata,
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status,
    transfer_reversal: null,
  };
}
