import type Stripe from 'stripe';
import { type Named, setDiscounts } from '../discounts/discount.ts';
import { change } from '../events/announce.ts';
import { timeOfCustomer } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Subscription } from '../provider/records.ts';
import { missing, missingParameter, ParameterError, refused } from '../routing/api-error.ts';
import { emptyParameter, mergeMetadata } from '../routing/parameters.ts';
import { applyEnd, isFinal, noDetails } from './end-subscription.ts';
import { readPauseCollection } from './pause/pause-collection.ts';
import { endTrialNow } from './trial.ts';
import { type ItemChange, updateItems } from './update-items.ts';

type Changes = Omit<Stripe.SubscriptionUpdateParams, 'expand'>;

/**
 * Performs POST /v1/subscriptions/:id. All changes are one event, except what the immediate end of a
 * trial causes.
 *
 * @throws ApiError if the status or a schedule does not allow the change, if the payment method is not the
 *   customer's, or if parameters contradict each other; and as `updateItems`. Nothing has changed then.
 */
export function updateSubscription(provider: Provider, subscription: Subscription, changes: Changes): Subscription {
  requireOneEnd(changes);
  requireNotFinal(subscription, changes);
  requireComplete(subscription, changes);
  requireUnmanagedEnd(subscription, changes);
  checkMethod(provider, subscription, changes.default_payment_method);
  checkResumption(provider, subscription, changes.pause_collection);
  const end = endAfter(provider, subscription, changes);
  const method = changes.collection_method ?? subscription.collection_method;
  const kept = method === 'send_invoice' ? (subscription.days_until_due ?? undefined) : undefined;
  const days = readDaysUntilDue(method, changes.days_until_due ?? kept);

  if (changes.items !== undefined) {
    updateItems(provider, subscription, {
      changes: changes.items as ItemChange[],
      proration: changes.proration_behavior,
      payment: changes.payment_behavior,
      also: apply,
    });
  } else {
    change(provider, 'customer.subscription.updated', subscription, apply);
  }
  if (changes.trial_end === 'now' && subscription.status === 'trialing') endTrialNow(provider, subscription);
  return subscription;

  function apply(): void {
    if (end) applyEnd(provider, subscription, end.wanted);
    if (changes.metadata !== undefined) subscription.metadata = mergeMetadata(subscription.metadata, changes.metadata);
    if (changes.pause_collection !== undefined) {
      subscription.pause_collection = readPauseCollection(changes.pause_collection);
    }
    if (changes.discounts !== undefined) setDiscounts(provider, subscription, (changes.discounts || []) as Named[]);
    if (changes.description !== undefined) subscription.description = changes.description || null;
    if (changes.default_payment_method !== undefined) {
      subscription.default_payment_method = changes.default_payment_method || null;
    }
    if (changes.collection_method !== undefined) subscription.collection_method = changes.collection_method;
    if (changes.collection_method !== undefined || changes.days_until_due !== undefined)
      subscription.days_until_due = days;
    if (typeof changes.trial_end === 'number') extendTrial(subscription, changes.trial_end);
    const missingMethod = changes.trial_settings?.end_behavior?.missing_payment_method;
    if (missingMethod && subscription.trial_settings) {
      subscription.trial_settings.end_behavior.missing_payment_method = missingMethod;
    }
    applyDetails(subscription, changes.cancellation_details);
  }
}

/**
 * Returns the days after which an invoice that is sent is due; null if invoices are charged.
 *
 * @throws ApiError if the days are missing, or given for invoices that are charged.
 */
export function readDaysUntilDue(method: string | undefined, days: number | undefined): number | null {
  const isSent = method === 'send_invoice';
  if (isSent && days === undefined) throw missingParameter('days_until_due');
  if (!isSent && days !== undefined) {
    throw refused('`days_until_due` can only be set if `collection_method` is `send_invoice`.', {
      param: 'days_until_due',
    });
  }
  return days ?? null;
}

/** @throws ParameterError if both parameters that schedule an end are present, whatever their values. */
export function requireOneEnd(changes: Pick<Changes, 'cancel_at' | 'cancel_at_period_end'>): void {
  if (changes.cancel_at_period_end === undefined || changes.cancel_at === undefined) return;
  throw new ParameterError(
    400,
    'Received both cancel_at and cancel_at_period_end parameters. Please pass in only one.',
    {
      code: 'parameters_exclusive',
      param: 'cancel_at',
    },
  );
}

function requireNotFinal(subscription: Subscription, changes: Changes): void {
  const others = Object.keys(changes).filter((name) => name !== 'metadata' && name !== 'cancellation_details');
  if (!isFinal(subscription) || others.length === 0) return;
  throw refused('A canceled subscription can only update its cancellation_details and metadata.', {
    code: 'invalid_canceled_subscription_fields',
  });
}

/** Until its first invoice is paid, only the metadata of a subscription can be changed. */
function requireComplete(subscription: Subscription, changes: Changes): void {
  if (subscription.status !== 'incomplete' || Object.keys(changes).every((name) => name === 'metadata')) return;
  throw refused('A subscription with a status of `incomplete` can only update its metadata.');
}

/** The end of a subscription with a schedule can be changed only through the schedule. */
function requireUnmanagedEnd(subscription: Subscription, changes: Changes): void {
  const touchesEnd = changes.cancel_at !== undefined || changes.cancel_at_period_end !== undefined;
  if (subscription.schedule === null || !touchesEnd) return;
  throw refused(
    `The subscription is managed by the subscription schedule \`${subscription.schedule}\`, and updating any cancelation behavior directly is not allowed. Please update the schedule instead.`,
  );
}

function checkMethod(provider: Provider, subscription: Subscription, method: string | undefined): void {
  if (method === '' && !provider.state.switches.subscription_card_clears) {
    throw emptyParameter('default_payment_method');
  }
  if (!method || provider.state.payment_methods[method]?.customer === subscription.customer) return;
  throw missing('PaymentMethod', method, 'default_payment_method');
}

function checkResumption(provider: Provider, { customer }: Subscription, pause: Changes['pause_collection']): void {
  if (!pause || (pause.resumes_at ?? Number.POSITIVE_INFINITY) > timeOfCustomer(provider, customer)) return;
  throw refused('The `resumes_at` timestamp must be in the future.', { param: 'pause_collection[resumes_at]' });
}

type End = Parameters<typeof applyEnd>[2];

/**
 * Returns the scheduled end after an update, or null if the update does not change it.
 *
 * @throws ApiError if `cancel_at` is not in the future.
 */
export function endAfter(
  provider: Provider,
  subscription: Subscription,
  changes: Pick<Changes, 'cancel_at' | 'cancel_at_period_end'>,
): { wanted: End } | null {
  const { cancel_at: at, cancel_at_period_end: flag } = changes;
  if (flag === true) return subscription.cancel_at_period_end ? null : { wanted: { form: 'cancel_at_period_end' } };
  // Each parameter undoes only the end that it has set itself.
  if (flag === false) return subscription.cancel_at_period_end ? { wanted: null } : null;
  if (at === undefined) return null;
  if (at === '') return subscription.cancel_at_period_end || subscription.cancel_at === null ? null : { wanted: null };
  const ends = subscription.items.data.map((item) => item.current_period_end);
  const time = at === 'min_period_end' ? Math.min(...ends) : at === 'max_period_end' ? Math.max(...ends) : Number(at);
  if (time <= timeOfCustomer(provider, subscription.customer)) {
    throw refused('The cancel_at timestamp must be in the future.', { param: 'cancel_at' });
  }
  return { wanted: { form: 'cancel_at', at: time } };
}

function extendTrial(subscription: Subscription, until: number): void {
  subscription.status = 'trialing';
  subscription.trial_end = until;
  subscription.trial_start ??= subscription.items.data[0]?.current_period_start ?? until;
  subscription.billing_cycle_anchor = until;
  for (const item of subscription.items.data) item.current_period_end = until;
}

function applyDetails(subscription: Subscription, details: Changes['cancellation_details']): void {
  if (!details) return;
  subscription.cancellation_details = {
    ...noDetails(),
    ...subscription.cancellation_details,
    ...(details.comment !== undefined && { comment: details.comment || null }),
    ...(details.feedback !== undefined && { feedback: details.feedback || null }),
  };
}
