import { type Ask, isMissing, providerErrorOf } from './connection.ts';
import { listAll } from './list-all.ts';

/** What a page of the portal is for: a new card, what stands on invoices, or a change of plan that the user confirms. */
export type PortalPage =
  | { page: 'card' }
  | { page: 'details' }
  | { page: 'change'; subscriptionId: string; itemId: string; priceId: string; quantity: number };

type PortalSession = {
  customerId: string;
  returnUrl: string;
  /** The saved configuration; null for the provider's own. */
  configuration: string | null;
};

/**
 * Returns the URL of a new portal session, at one of its pages or at its beginning. Null if the portal refuses the page.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function openPortalPage(ask: Ask, session: PortalSession, page?: PortalPage): Promise<string | null> {
  const { customerId: customer, returnUrl: return_url, configuration } = session;
  const plain = { customer, return_url, ...(configuration === null ? {} : { configuration }) };
  const parameters = page === undefined ? plain : { ...plain, flow_data: flowOf(page) };
  try {
    return (await ask((provider) => provider.billingPortal.sessions.create(parameters))).url;
  } catch (error) {
    const isRefused = providerErrorOf(error)?.status === 400 && !isMissing(error, 'customer');
    if (page === undefined || !isRefused) throw error;
    return null;
  }
}

function flowOf(page: PortalPage) {
  if (page.page === 'card') return { type: 'payment_method_update' as const };
  if (page.page === 'details') return { type: 'customer_update' as const };
  const { subscriptionId: subscription, itemId: id, priceId: price, quantity } = page;
  return {
    type: 'subscription_update_confirm' as const,
    subscription_update_confirm: { subscription, items: [{ id, price, quantity }] },
  };
}

/** The prices that the portal offers, by product: it lists each product once. */
export type PortalOffer = { product: string; prices: string[] }[];

/**
 * The part of the portal's configuration about a change of plan. A higher plan or a longer interval begins at once, and
 * the difference is invoiced: with `create_prorations` it would be given away until the renewal. A lower plan or a
 * shorter interval begins with the next period, by a schedule. A change does not end a trial.
 */
function planChanges(offer: PortalOffer) {
  return {
    proration_behavior: 'always_invoice' as const,
    products: offer,
    schedule_at_period_end: {
      conditions: [{ type: 'decreasing_item_amount' as const }, { type: 'shortening_interval' as const }],
    },
    trial_update_behavior: 'continue_trial' as const,
  };
}

/** Writes the offered prices to a configuration. Its other settings stay. @throws AppError PROVIDER_UNAVAILABLE. */
export async function updatePortalOffer(ask: Ask, id: string, offer: PortalOffer): Promise<void> {
  const features = { subscription_update: planChanges(offer) };
  await ask((provider) => provider.billingPortal.configurations.update(id, { features }));
}

/** What tax needs of a customer, and who gets the invoices. */
const editedDetails = ['address', 'tax_id', 'name', 'email'] as const;

export type PortalMetadata = { purpose: string; deployment: string };

/**
 * Makes or updates this deployment's configuration of the portal and returns its id: payment method, invoice history,
 * cancellation at the end of the period, change of plan among the offered prices, and with `details` what stands on
 * invoices.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function configurePortal(
  ask: Ask,
  {
    returnUrl,
    offer,
    metadata,
    details,
  }: { returnUrl: string; offer: PortalOffer; metadata: PortalMetadata; details: boolean },
): Promise<string> {
  const settings = {
    default_return_url: returnUrl,
    features: {
      ...(details && { customer_update: { enabled: true, allowed_updates: [...editedDetails] } }),
      payment_method_update: { enabled: true },
      invoice_history: { enabled: true },
      subscription_cancel: { enabled: true, mode: 'at_period_end' as const },
      // A pause there would give the plan without payment.
      subscription_pause: { enabled: false },
      subscription_update: {
        enabled: true,
        default_allowed_updates: ['price' as const],
        ...planChanges(offer),
      },
    },
    metadata,
  };
  const known = await listAll(ask, (provider, paging) =>
    provider.billingPortal.configurations.list({ active: true, ...paging }),
  );
  const ours = known.find((each) => each.metadata?.deployment === metadata.deployment);
  const saved = await ask(({ billingPortal: { configurations } }) =>
    ours === undefined ? configurations.create(settings) : configurations.update(ours.id, settings),
  );
  return saved.id;
}

/** What a configuration of the portal allows. */
export type PortalState = {
  isActive: boolean;
  changesCards: boolean;
  showsInvoices: boolean;
  cancelsAtPeriodEnd: boolean;
  changesPlans: boolean;
  invoicesAtOnce: boolean;
  /** Whether a lower plan and a shorter interval begin with the next period. */
  lowersLater: boolean;
  /** Whether address, tax number, name and e-mail address can be changed. */
  changesDetails: boolean;
  pausesSubscriptions: boolean;
  offeredPrices: string[];
};

/** Returns a configuration; null if the provider does not know it. @throws AppError PROVIDER_UNAVAILABLE. */
export async function readPortal(ask: Ask, id: string): Promise<PortalState | null> {
  try {
    const { active, features } = await ask((provider) => provider.billingPortal.configurations.retrieve(id));
    const { subscription_cancel, subscription_update, customer_update } = features;
    return {
      isActive: active,
      changesCards: features.payment_method_update.enabled,
      showsInvoices: features.invoice_history.enabled,
      cancelsAtPeriodEnd: subscription_cancel.enabled && subscription_cancel.mode === 'at_period_end',
      changesPlans: subscription_update.enabled,
      changesDetails:
        customer_update.enabled && editedDetails.every((name) => customer_update.allowed_updates.includes(name)),
      pausesSubscriptions: features.subscription_pause?.enabled ?? false,
      lowersLater: ['decreasing_item_amount', 'shortening_interval'].every((type) =>
        subscription_update.schedule_at_period_end.conditions.some((each) => each.type === type),
      ),
      invoicesAtOnce: subscription_update.proration_behavior === 'always_invoice',
      offeredPrices: (subscription_update.products ?? []).flatMap((product) => product.prices),
    };
  } catch (error) {
    if (!isMissing(error)) throw error;
    return null;
  }
}
