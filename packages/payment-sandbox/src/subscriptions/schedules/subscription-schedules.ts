import type Stripe from 'stripe';
import { existingCustomer } from '../../customers/customers.ts';
import { change } from '../../events/announce.ts';
import { timeOfCustomer } from '../../provider/clock.ts';
import type { Provider } from '../../provider/provider.ts';
import type { SubscriptionSchedule } from '../../provider/records.ts';
import { missing, refused } from '../../routing/api-error.ts';
import { createdIn, inRange, listPage } from '../../routing/lists.ts';
import { mergeMetadata, pageRules, type Rule, rangeRule } from '../../routing/parameters.ts';
import { type Call, route } from '../../routing/route.ts';
import { endSubscription, isFinal } from '../end-subscription.ts';
import { prorations } from '../subscription-rules.ts';
import { findSubscription } from '../subscriptions.ts';
import { currentPhase, newSchedule, readPhases } from './new-schedule.ts';
import { announceSchedule, attachSchedule, cancelSchedule, isOpen, releaseSchedule, takeEnd } from './schedule.ts';
import { beginSchedule } from './schedule-steps.ts';

const dateRule: Rule = { either: ['integer', { one: ['now'] }] };
const phaseRules = {
  add_invoice_items: 'unsupported',
  application_fee_percent: 'unsupported',
  automatic_tax: 'unsupported',
  billing_cycle_anchor: 'unsupported',
  billing_thresholds: 'unsupported',
  collection_method: { one: ['charge_automatically'] },
  currency: 'unsupported',
  default_payment_method: 'unsupported',
  default_tax_rates: 'unsupported',
  description: 'unsupported',
  discounts: 'unsupported',
  duration: {
    hash: { interval: { one: ['day', 'week', 'month', 'year'] }, interval_count: 'integer' },
    required: ['interval'],
  },
  end_date: 'integer',
  invoice_settings: 'unsupported',
  items: {
    list: {
      hash: {
        price: 'string',
        quantity: 'integer',
        billing_thresholds: 'unsupported',
        discounts: 'unsupported',
        metadata: 'unsupported',
        plan: 'unsupported',
        price_data: 'unsupported',
        tax_rates: 'unsupported',
      },
      required: ['price'],
    },
  },
  metadata: 'unsupported',
  on_behalf_of: 'unsupported',
  proration_behavior: { one: prorations },
  transfer_data: 'unsupported',
  trial: 'unsupported',
  trial_end: 'unsupported',
} as const satisfies Record<string, Rule>;
const endRule: Rule = { one: ['cancel', 'release'] };

export const subscriptionScheduleRoutes = [
  route<Stripe.SubscriptionScheduleCreateParams>(
    'POST',
    '/v1/subscription_schedules',
    {
      billing_mode: 'unsupported',
      customer: 'string',
      customer_account: 'unsupported',
      default_settings: 'unsupported',
      end_behavior: endRule,
      from_subscription: 'string',
      metadata: 'metadata',
      pause_schedules: 'unsupported',
      phases: { list: { hash: phaseRules, required: ['items'] } },
      start_date: dateRule,
    },
    create,
  ),
  route<Stripe.SubscriptionScheduleRetrieveParams>('GET', '/v1/subscription_schedules/:id', {}, ({ provider, id }) =>
    findSchedule(provider, id),
  ),
  route<Stripe.SubscriptionScheduleUpdateParams>(
    'POST',
    '/v1/subscription_schedules/:id',
    {
      default_settings: 'unsupported',
      end_behavior: endRule,
      metadata: 'metadata',
      pause_schedules: 'unsupported',
      phases: { list: { hash: { ...phaseRules, start_date: dateRule }, required: ['items'] } },
      proration_behavior: 'unsupported',
    },
    update,
  ),
  route<Stripe.SubscriptionScheduleListParams>(
    'GET',
    '/v1/subscription_schedules',
    {
      ...pageRules,
      canceled_at: rangeRule,
      completed_at: rangeRule,
      created: rangeRule,
      customer: 'string',
      customer_account: 'unsupported',
      released_at: rangeRule,
      scheduled: 'boolean',
    },
    list,
  ),
  route<Stripe.SubscriptionScheduleReleaseParams>(
    'POST',
    '/v1/subscription_schedules/:id/release',
    { preserve_cancel_date: 'boolean' },
    ({ provider, id, params }) => {
      const schedule = requireOpen(provider, id, 'released');
      releaseSchedule(provider, schedule, params.preserve_cancel_date);
      return schedule;
    },
  ),
  route<Stripe.SubscriptionScheduleCancelParams>(
    'POST',
    '/v1/subscription_schedules/:id/cancel',
    { invoice_now: 'unsupported', prorate: 'unsupported' },
    cancel,
  ),
];

/** @throws ApiError resource_missing if there is no such schedule. */
export function findSchedule(provider: Provider, id: string): SubscriptionSchedule {
  const schedule = provider.state.subscription_schedules[id];
  if (!schedule) throw missing('subscription schedule', id);
  return schedule;
}

function requireOpen(provider: Provider, id: string, act: string): SubscriptionSchedule {
  const schedule = findSchedule(provider, id);
  if (isOpen(schedule)) return schedule;
  throw refused(
    `You cannot have a subscription schedule that is \`${schedule.status}\` ${act}. Only \`not_started\` and \`active\` ones can be.`,
  );
}

function create({ provider, params }: Call<Stripe.SubscriptionScheduleCreateParams>): SubscriptionSchedule {
  if (params.from_subscription !== undefined) return createFrom(provider, params.from_subscription, params);

  const customer = existingCustomer(provider, params.customer ?? '', 'customer').id;
  const at = timeOfCustomer(provider, customer);
  const start = typeof params.start_date === 'number' ? params.start_date : at;
  const schedule = newSchedule(provider, customer, readPhases(provider, params.phases ?? [], start), {
    endBehaviour: params.end_behavior ?? 'release',
    metadata: mergeMetadata({}, params.metadata),
  });
  provider.state.subscription_schedules[schedule.id] = schedule;
  announceSchedule(provider, schedule);
  if (start <= at) beginSchedule(provider, schedule);
  return schedule;
}

function createFrom(
  provider: Provider,
  id: string,
  params: Stripe.SubscriptionScheduleCreateParams,
): SubscriptionSchedule {
  const subscription = findSubscription(provider, id, 'from_subscription');
  if (params.phases !== undefined || params.end_behavior !== undefined || params.customer !== undefined) {
    throw refused('With from_subscription, phases and other settings can be set only by an update.');
  }
  if (subscription.schedule !== null || isFinal(subscription)) {
    throw refused('You cannot migrate a subscription that is already attached to a schedule, or has ended.', {
      param: 'from_subscription',
    });
  }

  const phase = currentPhase(provider, subscription);
  const cancels = subscription.cancel_at !== null;
  const schedule = newSchedule(provider, subscription.customer, [phase], {
    endBehaviour: cancels ? 'cancel' : 'release',
    metadata: mergeMetadata({}, params.metadata),
  });
  schedule.current_phase = { start_date: phase.start_date, end_date: phase.end_date };
  provider.state.subscription_schedules[schedule.id] = schedule;
  attachSchedule(provider, schedule, subscription);
  announceSchedule(provider, schedule);
  return schedule;
}

/** Updates a schedule. Given phases replace the current one and all after it. */
function update({ provider, id, params }: Call<Stripe.SubscriptionScheduleUpdateParams>): SubscriptionSchedule {
  const schedule = requireOpen(provider, id, 'updated');
  const subscription = provider.state.subscriptions[schedule.subscription ?? ''];
  const start = schedule.current_phase?.start_date ?? schedule.phases[0]?.start_date ?? schedule.created;
  const phases = params.phases && readPhases(provider, params.phases as never, start);
  change(provider, 'subscription_schedule.updated', schedule, () => {
    if (phases) schedule.phases = phases;
    const current = phases?.[0];
    if (current && schedule.current_phase) {
      schedule.current_phase = { start_date: current.start_date, end_date: current.end_date };
    }
    if (params.end_behavior) schedule.end_behavior = params.end_behavior;
    if (params.metadata !== undefined) schedule.metadata = mergeMetadata(schedule.metadata, params.metadata);
  });
  if (subscription) {
    change(provider, 'customer.subscription.updated', subscription, () =>
      takeEnd(subscription, schedule, timeOfCustomer(provider, schedule.customer)),
    );
  }
  return schedule;
}

function list({ provider, params, path }: Call<Stripe.SubscriptionScheduleListParams>) {
  const all = Object.values(provider.state.subscription_schedules).filter(
    (schedule) =>
      createdIn(schedule, params.created) &&
      inRange(schedule.canceled_at, params.canceled_at) &&
      inRange(schedule.completed_at, params.completed_at) &&
      inRange(schedule.released_at, params.released_at) &&
      (params.customer === undefined || schedule.customer === params.customer) &&
      (params.scheduled !== true || schedule.status === 'not_started'),
  );
  return listPage(path, all, params, 'subscription schedule');
}

/** Cancels a schedule and its subscription at once. */
function cancel({ provider, id }: Call<Stripe.SubscriptionScheduleCancelParams>): SubscriptionSchedule {
  const schedule = requireOpen(provider, id, 'canceled');
  const subscription = provider.state.subscriptions[schedule.subscription ?? ''];
  if (subscription) endSubscription(provider, subscription, 'cancellation_requested');
  else cancelSchedule(provider, schedule);
  return schedule;
}
