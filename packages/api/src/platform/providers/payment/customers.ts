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
  /** Whether it has a payment method of its own, which is charged for a subscription that has none. */
  hasPaymentMethod: boolean;
};

/** Returns what the provider knows of a customer. @throws AppError PROVIDER_UNAVAILABLE, also if it is unknown. */
export async function readCustomer(ask: Ask, id: string): Promise<CustomerState> {
  const customer = await ask((provider) => provider.customers.retrieve(id));
  if (customer.deleted) return { isDeleted: true, hasPaymentMethod: false };
  const method = customer.invoice_settings.default_payment_method ?? customer.default_source;
  return { isDeleted: false, hasPaymentMethod: method !== null };
}

/** Sets a customer's e-mail address; null removes it. @throws AppError PROVIDER_UNAVAILABLE. */
export async function setCustomerEmail(ask: Ask, id: string, email: string | null): Promise<void> {
  await ask((provider) => provider.customers.update(id, { email: email ?? '' }));
}
