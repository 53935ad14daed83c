import { now } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { PaymentMethod } from '../provider/records.ts';

/** A test card, with its number and its results. */
export interface Card {
  number: string;
  brand: string;
  /** A description for the hosted pages. */
  about: string;
  /** Whether the card can be saved. With `authenticates` a page asks for authentication first. */
  saved: Outcome;
  /** The result of a charge that the customer makes on a page. */
  onSession: Outcome;
  /** The result of a later charge without the customer, who cannot authenticate then. */
  offSession: Outcome;
  /** The result of the charge of a plan change, where it differs. */
  planChange?: 'declines';
  /** The id by which the API accepts it as a payment method. */
  token: string;
}

/** The result of using a card. One that authenticates works once the customer has confirmed it at the bank. */
export type Outcome = 'works' | 'declines' | 'authenticates';

export const cards: readonly Card[] = [
  {
    number: '4242424242424242',
    brand: 'visa',
    about: 'pays',
    saved: 'works',
    onSession: 'works',
    offSession: 'works',
    token: 'pm_card_visa',
  },
  {
    number: '4000000000000002',
    brand: 'visa',
    about: 'is declined',
    saved: 'declines',
    onSession: 'declines',
    offSession: 'declines',
    token: 'pm_card_visa_chargeDeclined',
  },
  {
    number: '4000000000000341',
    brand: 'visa',
    about: 'can be saved, is declined at each charge',
    saved: 'works',
    onSession: 'declines',
    offSession: 'declines',
    token: 'pm_card_chargeCustomerFail',
  },
  {
    number: '4000002760003184',
    brand: 'visa',
    about: 'requires authentication at each charge',
    saved: 'authenticates',
    onSession: 'authenticates',
    offSession: 'authenticates',
    token: 'pm_card_authenticationRequired',
  },
  {
    // The real provider has no such card: the number is the sandbox's own.
    number: '4000000007007000',
    brand: 'visa',
    about: 'pays, is declined at the charge of a plan change',
    saved: 'works',
    onSession: 'works',
    offSession: 'works',
    planChange: 'declines',
    token: 'pm_card_sandbox_planChangeDeclined',
  },
];

/** The number of a card that pays. */
export const goodCard = '4242424242424242';

/** Returns the test card with this number; spaces and hyphens are ignored. */
export function findCard(number: string): Card | undefined {
  const digits = number.replace(/[\s-]/g, '');
  return cards.find((card) => card.number === digits);
}

/** Returns the test card with this id of a payment method, such as pm_card_visa. */
export function cardByToken(token: string): Card | undefined {
  return cards.find((card) => card.token === token);
}

/** Groups digits as on a printed card: "4242 4242 4242 4242". */
export function grouped(number: string): string {
  return number.replace(/(\d{4})(?=\d)/g, '$1 ');
}

/** Saves a card as a payment method, attached to the customer if there is one. */
export function saveCard(provider: Provider, card: Card, customer: string | null): PaymentMethod {
  const method: PaymentMethod = {
    id: newId('pm'),
    object: 'payment_method',
    allow_redisplay: 'always',
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    card: {
      brand: card.brand,
      checks: null,
      country: 'GB',
      display_brand: card.brand,
      exp_month: 12,
      exp_year: 2040,
      fingerprint: `sandbox${card.number.slice(-4)}`,
      funding: 'credit',
      generated_from: null,
      last4: card.number.slice(-4),
      networks: { available: [card.brand], preferred: null },
      regulated_status: 'unregulated',
      three_d_secure_usage: { supported: true },
      wallet: null,
    },
    created: now(provider),
    customer,
    customer_account: null,
    livemode: false,
    metadata: {},
    type: 'card',
  };
  provider.state.payment_methods[method.id] = method;
  return method;
}

/** Returns the test card of a saved payment method. */
export function cardOf(method: PaymentMethod | undefined): Card | undefined {
  return cards.find((card) => card.number.endsWith(method?.card?.last4 ?? 'none'));
}
