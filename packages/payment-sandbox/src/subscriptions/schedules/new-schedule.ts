import type Stripe from 'stripe';
import { findPrice } from '../../catalogue/prices.ts';
import { addInterval, timeOfCustomer } from '../../provider/clock.ts';
import { newId } from '../../provider/id.ts';
import type { Provider } from '../../provider/provider.ts';
import type { SchedulePhase, Subscription, SubscriptionSchedule } from '../../provider/records.ts';
import { refused } from '../../routing/api-error.ts';
import { periodEnd } from '../end-subscription.ts';
import { firstPeriodEnd } from '../new-subscription.ts';

/** Returns a new schedule that has not started. */
export function newSchedule(
  provider: Provider,
  customer: string,
  phases: SchedulePhase[],
  { endBehaviour = 'release', metadata = {} }: { endBehaviour?: string; metadata?: Record<string, string> },
): SubscriptionSchedule {
  const at = timeOfCustomer(provider, customer);
  return {
    id: newId('sub_sched'),
    object: 'subscription_schedule',
    application: null,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible', updated_at: at },
    canceled_at: null,
    completed_at: null,
    created: at,
    current_phase: null,
    customer,
    customer_account: null,
    default_settings: {
      application_fee_percent: null,
      automatic_tax: { disabled_reason: null, enabled: false, liability: null },
      billing_cycle_anchor: 'automatic',
      billing_thresholds: null,
      collection_method: 'charge_automatically',
      default_payment_method: null,
      description: null,
      invoice_settings: {
        account_tax_ids: null,
        custom_fields: null,
        days_until_due: null,
        description: null,
        footer: null,
        issuer: { type: 'self' },
      },
      on_behalf_of: null,
      transfer_data: null,
    },
    end_behavior: endBehaviour as 'release',
    livemode: false,
    metadata,
    pause_schedules: [],
    phases,
    released_at: null,
    released_subscription: null,
    status: 'not_started',
    subscription: null,
    test_clock: provider.state.customers[customer]?.test_clock ?? null,
  };
}

type WantedPhase = Stripe.SubscriptionScheduleCreateParams.Phase & {
  start_date?: number | 'now';
};

/**
 * Reads the phases of a request. Each starts at the end of the one before.
 *
 * @throws ApiError if there is no phase, a price does not exist, a phase starts elsewhere, or does not end after its
 *   start.
 */
export function readPhases(provider: Provider, wanted: WantedPhase[], start: number): SchedulePhase[] {
  if (wanted.length === 0) throw refused('A schedule needs at least one phase.', { param: 'phases' });
  let from = start;
  return wanted.map((phase, index) => {
    const param = `phases[${index}]`;
    const items = phase.items.map(({ price, quantity }) => ({
      price: findPrice(provider, price ?? '', `${param}[items][0][price]`).id,
      quantity: quantity ?? 1,
    }));
    if (phase.start_date !== undefined && phase.start_date !== from) {
      throw refused(
        'A phase must start at the end of the one before, and the first one at the start of the schedule.',
        {
          param: `${param}[start_date]`,
        },
      );
    }
    const end = endOf(provider, phase, items[0]?.price ?? '', from);
    if (end <= from) throw refused('The end of a phase must be after its start.', { param: `${param}[end_date]` });
    const read = newPhase(provider, items, from, end, phase.proration_behavior ?? 'create_prorations');
    from = end;
    return read;
  });
}

function endOf(provider: Provider, { end_date: end, duration }: WantedPhase, price: string, from: number): number {
  if (typeof end === 'number') return end;
  if (duration) return addInterval(from, duration.interval, duration.interval_count ?? 1);
  return firstPeriodEnd(findPrice(provider, price, 'price'), from);
}

/** Returns a phase with the current items and period of a subscription. */
export function currentPhase(provider: Provider, subscription: Subscription): SchedulePhase {
  const items = subscription.items.data.map(({ price, quantity }) => ({ price: price.id, quantity }));
  const start = subscription.items.data[0]?.current_period_start ?? subscription.start_date;
  return newPhase(provider, items, start, periodEnd(subscription), 'create_prorations');
}

function newPhase(
  provider: Provider,
  items: { price: string; quantity: number }[],
  start: number,
  end: number,
  proration: string,
): SchedulePhase {
  return {
    add_invoice_items: [],
    application_fee_percent: null,
    billing_cycle_anchor: null,
    billing_thresholds: null,
    collection_method: null,
    currency: provider.state.prices[items[0]?.price ?? '']?.currency ?? 'gbp',
    default_payment_method: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    end_date: end,
    invoice_settings: null,
    items: items.map(({ price, quantity }) => ({
      billing_thresholds: null,
      discounts: [],
      metadata: {},
      plan: price,
      price,
      quantity,
      tax_rates: [],
    })),
    metadata: {},
    on_behalf_of: null,
    proration_behavior: proration as SchedulePhase['proration_behavior'],
    start_date: start,
    transfer_data: null,
    trial_end: null,
  };
}
