import type Stripe from 'stripe';
import { announce, change } from '../events/announce.ts';
import { timeOf } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { Customer } from '../provider/records.ts';
import { missing, refused } from '../routing/api-error.ts';
import { createdIn, listPage } from '../routing/lists.ts';
import { mergeMetadata, pageRules, type Rule, rangeRule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';
import { endSubscription, isFinal } from '../subscriptions/end-subscription.ts';
import { cancelSchedule } from '../subscriptions/schedules/schedule.ts';
import { addressRule, readAddress } from './address.ts';
import { usePaymentMethod } from './payment-methods.ts';

const shared = {
  address: addressRule,
  balance: 'integer',
  business_name: 'text',
  cash_balance: 'unsupported',
  description: 'text',
  email: 'text',
  individual_name: 'text',
  invoice_prefix: 'string',
  invoice_settings: {
    hash: {
      default_payment_method: 'text',
      custom_fields: 'unsupported',
      footer: 'text',
      rendering_options: 'unsupported',
    },
  },
  metadata: 'metadata',
  name: 'text',
  next_invoice_sequence: 'unsupported',
  phone: 'text',
  preferred_locales: { list: 'string' },
  shipping: 'unsupported',
  source: 'unsupported',
  tax: 'unsupported',
  tax_exempt: { one: ['', 'none', 'exempt', 'reverse'] },
  validate: 'unsupported',
} as const satisfies Record<string, Rule>;

export const customerRoutes = [
  route<Stripe.CustomerCreateParams>(
    'POST',
    '/v1/customers',
    { ...shared, payment_method: 'string', tax_id_data: 'unsupported', test_clock: 'string' },
    create,
  ),
  route<Stripe.CustomerRetrieveParams>('GET', '/v1/customers/:id', {}, ({ provider, id }) =>
    knownCustomer(provider, id),
  ),
  route<Stripe.CustomerUpdateParams>('POST', '/v1/customers/:id', { ...shared, default_source: 'unsupported' }, update),
  route<Stripe.CustomerListParams>(
    'GET',
    '/v1/customers',
    { ...pageRules, created: rangeRule, email: 'string', test_clock: 'string' },
    list,
  ),
  route<Stripe.CustomerDeleteParams>('DELETE', '/v1/customers/:id', {}, remove),
];

/**
 * Finds a customer that is not deleted.
 *
 * @throws ApiError resource_missing if there is none.
 */
export function existingCustomer(provider: Provider, id: string, param: string): Customer {
  const customer = provider.state.customers[id];
  if (!customer) throw missing('customer', id, param);
  return customer;
}

/**
 * Finds a customer, deleted or not, as the filters of lists do.
 *
 * @throws ApiError resource_missing if it never existed.
 */
export function knownCustomer(provider: Provider, id: string, param = 'id'): Customer | Stripe.DeletedCustomer {
  const found = provider.state.customers[id] ?? provider.state.deleted_customers[id];
  if (!found) throw missing('customer', id, param);
  return found;
}

function create({ provider, params }: Call<Stripe.CustomerCreateParams>): Customer {
  const clock = params.test_clock ?? null;
  if (clock && !provider.state.test_clocks[clock]) throw missing('test clock', clock, 'test_clock');
  const customer: Customer = {
    id: newId('cus', 14),
    object: 'customer',
    address: params.address ? readAddress(params.address) : null,
    balance: params.balance ?? 0,
    created: timeOf(provider, clock),
    currency: null,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: params.description || null,
    email: params.email || null,
    invoice_prefix: params.invoice_prefix ?? newId('X', 7).slice(2).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: params.invoice_settings?.footer || null,
      rendering_options: null,
    },
    livemode: false,
    metadata: mergeMetadata({}, params.metadata),
    name: params.name || null,
    phone: params.phone || null,
    preferred_locales: params.preferred_locales ?? [],
    shipping: null,
    tax_exempt: params.tax_exempt || 'none',
    test_clock: clock,
    ...(params.business_name && { business_name: params.business_name }),
    ...(params.individual_name && { individual_name: params.individual_name }),
  };
  provider.state.customers[customer.id] = customer;
  announce(provider, 'customer.created', customer);
  if (params.payment_method) usePaymentMethod(provider, params.payment_method, customer);
  setDefault(provider, customer, params.invoice_settings?.default_payment_method);
  return customer;
}

function update({ provider, id, params }: Call<Stripe.CustomerUpdateParams>): Customer {
  const customer = provider.state.customers[id];
  if (!customer) throw missing('customer', id);
  change(provider, 'customer.updated', customer, () => {
    for (const name of ['description', 'email', 'name', 'phone'] as const) {
      if (params[name] !== undefined) customer[name] = params[name] || null;
    }
    for (const name of ['business_name', 'individual_name'] as const) {
      if (params[name]) customer[name] = params[name];
      else if (params[name] !== undefined) delete customer[name];
    }
    if (params.address !== undefined) customer.address = readAddress(params.address);
    if (params.invoice_prefix !== undefined) customer.invoice_prefix = params.invoice_prefix;
    if (params.invoice_settings?.footer !== undefined)
      customer.invoice_settings.footer = params.invoice_settings.footer || null;
    if (params.balance !== undefined) customer.balance = params.balance;
    if (params.preferred_locales) customer.preferred_locales = params.preferred_locales;
    if (params.tax_exempt !== undefined) customer.tax_exempt = params.tax_exempt || 'none';
    if (params.metadata !== undefined) customer.metadata = mergeMetadata(customer.metadata, params.metadata);
    setDefault(provider, customer, params.invoice_settings?.default_payment_method);
  });
  return customer;
}

function setDefault(provider: Provider, customer: Customer, method: string | undefined): void {
  if (method === undefined) return;
  if (method !== '' && provider.state.payment_methods[method]?.customer !== customer.id) {
    throw refused(
      `The customer does not have a payment method with the ID ${method}. The payment method must be attached to the customer.`,
      { code: 'resource_missing', param: 'invoice_settings[default_payment_method]' },
    );
  }
  customer.invoice_settings.default_payment_method = method || null;
}

function list({ provider, params, path }: Call<Stripe.CustomerListParams>) {
  const all = Object.values(provider.state.customers).filter(
    (customer) =>
      createdIn(customer, params.created) &&
      (params.email === undefined || customer.email === params.email) &&
      (params.test_clock === undefined || customer.test_clock === params.test_clock),
  );
  return listPage(path, all, params, 'customer');
}

/** Deletes a customer. Its subscriptions end at once, and its planned schedules are cancelled. */
function remove({ provider, id }: Call<Stripe.CustomerDeleteParams>): Stripe.DeletedCustomer {
  const customer = provider.state.customers[id];
  if (!customer) throw missing('customer', id);
  for (const subscription of Object.values(provider.state.subscriptions)) {
    if (subscription.customer === id && !isFinal(subscription)) {
      endSubscription(provider, subscription, 'cancellation_requested');
    }
  }
  for (const schedule of Object.values(provider.state.subscription_schedules)) {
    if (schedule.customer === id && schedule.status === 'not_started') cancelSchedule(provider, schedule);
  }
  delete provider.state.customers[id];
  const deleted: Stripe.DeletedCustomer = { id, object: 'customer', deleted: true };
  provider.state.deleted_customers[id] = deleted;
  announce(provider, 'customer.deleted', customer);
  return deleted;
}
