import type Stripe from 'stripe';
import { daySeconds } from '../provider/clock.ts';
import type { Customer } from '../provider/records.ts';
import { missingParameter, ParameterError, refused } from '../routing/api-error.ts';

type Params = Stripe.Checkout.SessionCreateParams;

/**
 * Checks the parameters of a new checkout session that depend on each other.
 *
 * @throws ApiError or ParameterError with the sentence of the real provider, or `sandbox_unsupported`.
 */
export function checkConditions(params: Params, customer: Customer | null, at: number): void {
  checkMode(params);
  for (const name of ['success_url', 'cancel_url'] as const) checkUrl(params[name], name);
  checkCustomer(params, customer);
  if (params.adaptive_pricing?.enabled) {
    throw unsupported('The sandbox does not convert currencies; the real provider does.', 'adaptive_pricing');
  }
  checkTrial(params.subscription_data ?? {}, at);
  const isFree = params.subscription_data?.trial_period_days ?? params.subscription_data?.trial_end;
  if (params.payment_method_collection === 'if_required' && isFree === undefined) {
    throw unsupported(
      'Without a trial, the sandbox collects a payment method in every checkout.',
      'payment_method_collection',
    );
  }
}

function checkMode(params: Params): void {
  if (params.mode === undefined) throw missingParameter('mode');
  if (params.mode !== 'subscription') {
    throw unsupported(`The sandbox does not support the mode ${params.mode}; the real provider does.`, 'mode');
  }
  if ((params.ui_mode ?? 'hosted_page') !== 'hosted_page') {
    throw unsupported('The sandbox supports hosted pages only.', 'ui_mode');
  }
  if (params.success_url === undefined) throw missingParameter('success_url');
  if (!params.line_items?.length) throw missingParameter('line_items');
}

/** What a checkout collects may change an existing customer only where `customer_update` says so. */
function checkCustomer(params: Params, customer: Customer | null): void {
  if (customer && params.customer_email) {
    throw refused('You may only specify one of these parameters: customer, customer_email.', {
      param: 'customer_email',
    });
  }
  if (!customer && params.customer_update) {
    throw refused('`customer_update` can only be used with `customer`.', { param: 'customer_update' });
  }
  if (!customer) return;
  if (params.automatic_tax?.enabled && params.customer_update?.address !== 'auto' && !customer.address?.country) {
    throw refused(
      "Automatic tax calculation in Checkout requires a valid address on the Customer. Add a valid address to the Customer or set `customer_update[address]` to 'auto' to save the address entered in Checkout to the Customer.",
      { code: 'customer_tax_location_invalid' },
    );
  }
  if (params.tax_id_collection?.enabled && params.customer_update?.name !== 'auto') {
    throw refused(
      'Tax ID collection requires updating business name on the customer. To enable tax ID collection for an existing customer, please set `customer_update[name]` to `auto`.',
    );
  }
}

function checkTrial({ trial_period_days: days, trial_end: end }: NonNullable<Params['subscription_data']>, at: number) {
  if (days !== undefined && end !== undefined) {
    throw refused('You may only specify one of these parameters: trial_end, trial_period_days.');
  }
  if (days !== undefined && days < 1) {
    throw new ParameterError(400, 'The minimum number of trial period days is 1.', {
      code: 'parameter_invalid_integer',
      param: 'subscription_data[trial_period_days]',
    });
  }
  if (end !== undefined && end < at + 2 * daySeconds) {
    throw refused('The `trial_end` date has to be at least 2 days in the future.', {
      param: 'subscription_data[trial_end]',
    });
  }
}

function checkUrl(url: string | undefined, param: string): void {
  if (url === undefined || (URL.canParse(url) && /^https?:/i.test(url))) return;
  throw refused('Not a valid URL', { code: 'url_invalid', param });
}

function unsupported(sentence: string, param: string): Error {
  return refused(sentence, { code: 'sandbox_unsupported', param });
}
