import { randomUUID } from 'node:crypto';
import { type Ask, providerErrorOf } from './connection.ts';
import { listAll } from './list-all.ts';

/** An open checkout session. */
export type CheckoutSession = { id: string; url: string | null };

type NewCheckout = {
  organisationId: string;
  customerId: string;
  tier: string;
  priceId: string;
  /** One of the price's currencies: the page shows and charges no other one. */
  currency: string;
  /** Where the page leads after the payment, and without one. */
  success: string;
  cancel: string;
  /** The payment methods that the page offers. */
  methods: string[];
  /** Whether the page takes promotion codes. */
  codes: boolean;
  /** Whether the provider computes the tax: by the address that the page asks for, with a tax number if there is one. */
  tax: boolean;
  /** Free days before the first payment, and whether a card is asked for before; null for none. */
  trial: { days: number; card: boolean } | null;
};

/** Opens a checkout session that buys one unit of a price. @throws AppError PROVIDER_UNAVAILABLE; Error without a URL. */
export async function openCheckout(ask: Ask, checkout: NewCheckout): Promise<{ id: string; url: string }> {
  const { organisationId, customerId, tier, priceId, currency, success, cancel, methods, codes, tax, trial } = checkout;
  const metadata = { organisation: organisationId, tier };
  const { id, url } = await ask((provider) =>
    provider.checkout.sessions.create(
      {
        mode: 'subscription',
        customer: customerId,
        client_reference_id: organisationId,
        currency,
        adaptive_pricing: { enabled: false },
        line_items: [{ price: priceId, quantity: 1 }],
        allowed_payment_method_types: methods,
        ...(tax && {
          automatic_tax: { enabled: true },
          // The name and the address that the page asks for are kept at the customer; tax and tax numbers need them there.
          customer_update: { address: 'auto' as const, name: 'auto' as const },
          tax_id_collection: { enabled: true },
        }),
        ...(codes && { allow_promotion_codes: true }),
        metadata,
        ...(trial !== null && !trial.card && { payment_method_collection: 'if_required' as const }),
        subscription_data: { metadata, ...(trial !== null && trialParameters(trial)) },
        success_url: success,
        cancel_url: cancel,
      },
      { idempotencyKey: randomUUID() },
    ),
  );
  if (url === null) throw new Error(`The payment provider gave no address for checkout ${id}.`);
  return { id, url };
}

/** Without a card at its end, a trial is paused: it can be resumed once there is one. */
function trialParameters({ days }: { days: number }) {
  return {
    trial_period_days: days,
    trial_settings: { end_behavior: { missing_payment_method: 'pause' as const } },
  };
}

/** Returns a customer's open checkout sessions. @throws AppError PROVIDER_UNAVAILABLE. */
export async function openCheckoutsOf(ask: Ask, customerId: string): Promise<CheckoutSession[]> {
  const sessions = await listAll(ask, (provider, paging) =>
    provider.checkout.sessions.list({ customer: customerId, status: 'open', ...paging }),
  );
  return sessions.map(({ id, url }) => ({ id, url }));
}

/** Expires a checkout session. Returns false if it is complete. @throws AppError PROVIDER_UNAVAILABLE. */
export async function expireCheckout(ask: Ask, id: string): Promise<boolean> {
  try {
    await ask((provider) => provider.checkout.sessions.expire(id));
    return true;
  } catch (error) {
    if (providerErrorOf(error)?.status !== 400) throw error;
    return false;
  }
}
