import type { verificationLinks } from '../../platform/db/schema/accounts.ts';
import { AppError } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
/** What the page of a verification link offers to its holder, each by a fresh one-time token. */
export type Offers = {
  password: PasswordForm | null;
  /** For the browser that signed up: the token by which the password typed there becomes valid. */
  keepToken: string | null;
  /** For the button that approves, where APPROVED_DOMAINS names the address's domain. */
  approvalToken: string | null;
};

export type PasswordForm = {
  token: string;
  /** The initial value of the field for the organisation's name; null if the form has no such field. */
  organisationName: string | null;
};

export const noOffers: Offers = { password: null, keepToken: null, approvalToken: null };

/** The outcome of opening a verification link. `ok` decides the status of the answer: 200 or 400. */
export type Outcome =
  | {
      ok: true;
      kind: 'address-confirmed';
      awaitingApproval: boolean;
      /** The account has no organisation of its own: it is to join another one by an invitation. */
      invited: boolean;
      offers: Offers;
    }
  | { ok: true; kind: 'password-offered'; awaitingApproval: boolean; email: string; offers: Offers }
  | { ok: true; kind: 'address-changed'; awaitingApproval: boolean }
  | { ok: true; kind: 'change-offered'; awaitingApproval: boolean; email: string; changeToken: string }
  | FailedOutcome;

/** A link that changed nothing. One that was used within its lifetime still offers what was not done yet. */
export type FailedOutcome =
  | { ok: false; kind: 'confirmed-already'; message: string; offers: Offers }
  | { ok: false; kind: 'change-offered'; message: string; email: string; changeToken: string }
  | { ok: false; kind: 'dead'; message: string };

/** Returns the AppError VALIDATION for a verification link that is unknown, used, expired or of no use to its account. */
export function invalidLink(): AppError {
  return new AppError('VALIDATION', 'This link is not valid.');
}

/** A verification link that was just consumed, and what else the request proves. */
export type OpenedLink = {
  link: typeof verificationLinks.$inferSelect;
  /** The token of the cookie that a sign-up sets. */
  browserToken: string | null;
  /** The user whose session the request carries. */
  signedInUserId: string | null;
  client: Client;
};
