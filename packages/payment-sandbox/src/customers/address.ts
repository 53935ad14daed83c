import type Stripe from 'stripe';
import type { Rule } from '../routing/parameters.ts';

const parts = ['city', 'country', 'line1', 'line2', 'postal_code', 'state'] as const;

/** The parameter of an address. '' in place of the hash removes the address. */
export const addressRule: Rule = {
  either: [{ hash: Object.fromEntries(parts.map((part) => [part, 'text'])) }, { one: [''] }],
};

/** Returns an address with all its members; null if it was removed. */
export function readAddress(
  params: Stripe.AddressParam | Stripe.Emptyable<Stripe.AddressParam>,
): Stripe.Address | null {
  if (params === '' || params === null) return null;
  const { city, country, line1, line2, postal_code, state } = params;
  return {
    city: city || null,
    country: country || null,
    line1: line1 || null,
    line2: line2 || null,
    postal_code: postal_code || null,
    state: state || null,
  };
}

/** Returns an address of which only the country is known, as a checkout that needs no more collects it. */
export function addressIn(country: string): Stripe.Address {
  return { city: null, country, line1: null, line2: null, postal_code: null, state: null };
}
