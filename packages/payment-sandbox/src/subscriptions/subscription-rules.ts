import type { Rule } from '../routing/parameters.ts';

const behaviours = ['allow_incomplete', 'default_incomplete', 'error_if_incomplete', 'pending_if_incomplete'];
export const prorations = ['always_invoice', 'create_prorations', 'none'];
const trialRules: Rule = {
  hash: {
    end_behavior: {
      hash: {
        missing_payment_method: { one: ['cancel', 'create_invoice', 'pause'] },
        billing_cycle_anchor: 'unsupported',
      },
    },
  },
};

/** The parameters that creating and updating a subscription have in common. */
export const sharedRules = {
  add_invoice_items: 'unsupported',
  application_fee_percent: 'unsupported',
  automatic_tax: 'unsupported',
  billing_schedules: 'unsupported',
  billing_thresholds: 'unsupported',
  cancel_at: { either: ['integer', { one: ['', 'min_period_end', 'max_period_end'] }] },
  cancel_at_period_end: 'boolean',
  collection_method: { one: ['charge_automatically', 'send_invoice'] },
  days_until_due: 'integer',
  default_source: 'unsupported',
  default_tax_rates: 'unsupported',
  description: 'text',
  discounts: { list: { hash: { coupon: 'string', discount: 'unsupported', promotion_code: 'string' } } },
  invoice_settings: 'unsupported',
  metadata: 'metadata',
  off_session: 'unsupported',
  on_behalf_of: 'unsupported',
  payment_behavior: { one: behaviours },
  payment_settings: 'unsupported',
  pending_invoice_item_interval: 'unsupported',
  proration_behavior: { one: prorations },
  transfer_data: 'unsupported',
  trial_end: { either: ['integer', { one: ['now'] }] },
  trial_from_plan: 'unsupported',
  trial_settings: trialRules,
} as const satisfies Record<string, Rule>;

export const itemRules = {
  id: 'string',
  price: 'string',
  quantity: 'integer',
  deleted: 'boolean',
  metadata: 'metadata',
  plan: 'unsupported',
  price_data: 'unsupported',
  tax_rates: 'unsupported',
  discounts: 'unsupported',
  billing_thresholds: 'unsupported',
  clear_usage: 'unsupported',
  current_trial: 'unsupported',
} as const satisfies Record<string, Rule>;

export const detailsRule: Rule = { hash: { comment: 'text', feedback: 'text', feedback_option: 'unsupported' } };
