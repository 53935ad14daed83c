import { eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import { verificationLinks } from '../db/schema.ts';
import { personByEmail } from '../sessions/person.ts';
import { isApprovedDomain } from './approved-domain.ts';
import { newOneTimeToken } from './one-time-token.ts';

/** What came of opening a verification link. */
export type Outcome = {
  ok: boolean;
  message: string | null;
  awaitingApproval: boolean;
  /** The account has no organisation of its own: it is to join another one by an invitation. */
  invited: boolean;
  /** The address was confirmed before, by this link or another. */
  confirmedAlready: boolean;
  /** The link was for a change of address, and that has happened. */
  addressChanged: boolean;
  /** A fresh token for the form that sets a first password, where none became valid. */
  firstPasswordToken: string | null;
  /** A fresh token for the button that approves, where the address's domain approves by itself. */
  approvalToken: string | null;
};

/** What a link that does not work has to say; its message differs. */
export const dead: Outcome = {
  ok: false,
  message: null,
  awaitingApproval: false,
  invited: false,
  confirmedAlready: false,
  addressChanged: false,
  firstPasswordToken: null,
  approvalToken: null,
};

/**
 * Why a link did not work. For one that was used within its lifetime, what it still
 * may offer: a mail scanner may have opened it before the person did.
 */
export async function explain(app: App, tokenHash: string, message: string): Promise<Outcome> {
  const [link] = await app.db.select().from(verificationLinks).where(eq(verificationLinks.tokenHash, tokenHash));
  if (link === undefined) return { ...dead, message };
  const person = await personByEmail(app.db, link.email);
  const confirmed = person !== null && person.user.id === link.userId && person.user.emailVerifiedAt !== null;
  if (!confirmed || person.standing === 'closed') {
    if (link.usedAt !== null) return { ...dead, message: 'This link has been used already.' };
    return { ...dead, message: link.expiresAt > app.now() ? message : 'This link has expired.' };
  }

  const living = link.purpose === 'sign-up' && link.usedAt !== null && link.expiresAt > app.now();
  const awaitingApproval = person.standing === 'awaiting_approval';
  const needsPassword = person.user.passwordHash === null && person.user.idpSubject === null;
  const mayApprove = awaitingApproval && isApprovedDomain(app, link.email);
  return app.db.transaction(async (tx) => ({
    ...dead,
    message: 'This address is confirmed already.',
    confirmedAlready: true,
    awaitingApproval,
    firstPasswordToken: living && needsPassword ? await newOneTimeToken(app, tx, link.userId, 'first-password') : null,
    approvalToken: living && mayApprove ? await newOneTimeToken(app, tx, link.userId, 'approval') : null,
  }));
}
