/**
 * A card or bank account for tests, with its number and its results.
 */
export interface TestMethod {
  type: 'card' | 'sepa_debit' | 'bacs_debit' | 'us_bank_account';
  /** The number of the card, or of the bank account. */
  number: string;
  /** A description for the hosted pages. */
  about: string;
  /** The only currency that it can pay; absent: all. */
  currency?: string;
  /** Whether it can be saved. With `authenticates` a page asks for authentication first. */
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

/**
 * The result of using a payment method. One that authenticates works once the customer has confirmed it at the bank.
 * One that `clears` or `bounces` is accepted, and its payment succeeds or fails days later.
 */
export type Outcome = 'works' | 'declines' | 'authenticates' | 'clears' | 'bounces';

/** Groups digits as on a printed card: "4242 4242 4242 4242". */
export function grouped(number: string): string {
  return number.replace(/(\w{4})(?=\w)/g, '$1 ');
}
