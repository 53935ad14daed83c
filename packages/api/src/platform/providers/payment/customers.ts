import { fields, idOf, textOf } from '../untrusted-json.ts';
import type { Ask } from './connection.ts';

/**
 * Creates an organisation's customer and returns its id. Key and parameters never change, so that a repeated request
 * gets the customer that the first one created, for a day. `number` counts the customers of the organisation.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function createCustomer(ask: Ask, organisationId: string, number: number): Promise<string> {
  const idempotencyKey = `customer:${organisationId}:${number}`;
  const metadata = { organisation: organisationId };
  const customer = await ask((provider) => provider.customers.create({ metadata }, { idempotencyKey }));
  return customer.id;
}

export type CustomerState = {
  isDeleted: boolean;
  /** Whether it is of live mode; null for one that is deleted. */
  livemode: boolean | null;
  /** The organisation that its metadata name; null for none. */
  organisation: string | null;
  /** The payment method that is charged for a subscription that has none of its own; null without one. */
  paymentMethodId: string | null;
  /** What stands on its invoices, and where the provider sends them; null for none. */
  name: string | null;
  email: string | null;
  /** The billing address in one line, with the country's two letters. */
  address: string | null;
};

/** Returns what the provider knows of a customer. @throws AppError PROVIDER_UNAVAILABLE, also if it is unknown. */
export async function readCustomer(ask: Ask, id: string): Promise<CustomerState> {
  const customer = await ask((provider) => provider.customers.retrieve(id));
  return customer.deleted
    ? {
        isDeleted: true,
        livemode: null,
        organisation: null,
        paymentMethodId: null,
        name: null,
        email: null,
        address: null,
      }
    : customerState(customer);
}

/** Names the organisation in a customer's metadata, as in those that are made here. @throws AppError PROVIDER_UNAVAILABLE. */
export async function nameOrganisation(ask: Ask, id: string, organisationId: string): Promise<void> {
  await ask((provider) => provider.customers.update(id, { metadata: { organisation: organisationId } }));
}

/** Sets a customer's e-mail address; null removes it. @throws AppError PROVIDER_UNAVAILABLE. */
export async function setCustomerEmail(ask: Ask, id: string, email: string | null): Promise<CustomerState> {
  return customerState(await ask((provider) => provider.customers.update(id, { email: email ?? '' })));
}

type ProviderCustomer = {
  invoice_settings: { default_payment_method: unknown };
  default_source: unknown;
  name?: string | null;
  email: string | null;
  address?: unknown;
  livemode: boolean;
  metadata: Record<string, string>;
};

function customerState(customer: ProviderCustomer): CustomerState {
  const { invoice_settings, default_source, name, email, livemode, metadata } = customer;
  const paymentMethodId = idOf(invoice_settings.default_payment_method ?? default_source);
  const organisation = textOf(metadata?.organisation);
  const contact = { name: textOf(name), email: textOf(email), address: addressOf(customer.address) };
  return { isDeleted: false, livemode, organisation, paymentMethodId, ...contact };
}

/** "1 High Street, London, N1 1AA, GB" */
function addressOf(value: unknown): string | null {
  const address = fields(value);
  const parts = ['line1', 'line2', 'city', 'state', 'postal_code', 'country'].map((part) => textOf(address?.[part]));
  return parts.filter((part) => part !== null && part !== '').join(', ') || null;
}
