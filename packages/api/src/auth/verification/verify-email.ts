import { and, eq, gt, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { verificationLinks } from '../../platform/db/schema/accounts.ts';
import { isAppError } from '../../platform/errors.ts';
import { type Client, clientKey } from '../../platform/security/client.ts';
import { hashToken } from '../../platform/security/token.ts';
import { lockUser } from '../profile/lock-user.ts';
import { readSession } from '../sessions/session.ts';
import { explainLink } from './explain-link.ts';
import { openChangeLink } from './open-change-link.ts';
import { openPasswordLink } from './open-password-link.ts';
import { openSignUpLink } from './open-sign-up-link.ts';
import { type FailedOutcome, invalidLink, type Outcome } from './outcome.ts';

export type { FailedOutcome, Outcome };

type LinkRequest = {
  token: string;
  /** The token of the cookie that a sign-up sets. */
  browserToken: string | null;
  /** The token of the session cookie, which identifies the user of a change of address. */
  sessionToken?: string | null;
};

/**
 * Consumes a verification link. One UPDATE marks it used, so that of concurrent requests
 * (a mail scanner and the user) one succeeds. Mail scanners open links, so the link alone
 * proves only that the mail arrived: it opens the e-mail gate, while a password
 * or another address becomes valid only in the browser that asked for it, or by a form of
 * the page.
 *
 * @throws AppError TOO_MANY if the client has opened too many invalid links.
 */
export async function verifyEmail(app: App, opened: LinkRequest, client: Client): Promise<Outcome> {
  const outcome = await open(app, opened, client);
  app.metrics.count('gatehouse_verifications_total', { outcome: outcome.ok ? counted[outcome.kind] : 'dead' });
  return outcome;
}

const counted = {
  'address-confirmed': 'confirmed',
  'password-offered': 'password_offered',
  'address-changed': 'address_changed',
  'change-offered': 'change_offered',
} as const;

async function open(app: App, { token, browserToken, sessionToken }: LinkRequest, client: Client): Promise<Outcome> {
  await app.throttle.peek({ 'verify-client': clientKey(client) });
  const tokenHash = hashToken(token);
  const principal = sessionToken ? await readSession(app, sessionToken) : null;
  const signedInUserId = principal?.user.id ?? null;

  try {
    return await app.db.transaction(async (tx) => {
      const link = await consume(app, tx, tokenHash);
      return act[link.purpose](app, tx, { link, browserToken, signedInUserId, client });
    });
  } catch (error) {
    if (!isAppError(error) || error.code !== 'VALIDATION') throw error;
    await app.throttle.take({ 'verify-client': clientKey(client) });
    return app.db.transaction((tx) => explainLink(app, tx, { tokenHash, browserToken, message: error.message }));
  }
}

const act = {
  'sign-up': openSignUpLink,
  'change-address': openChangeLink,
  'lost-password': openPasswordLink,
};

async function consume(app: App, tx: Transaction, tokenHash: string) {
  const now = app.now();
  const [known] = await tx
    .select({ userId: verificationLinks.userId })
    .from(verificationLinks)
    .where(eq(verificationLinks.tokenHash, tokenHash));
  if (known !== undefined) await lockUser(tx, known.userId);
  const [link] = await tx
    .update(verificationLinks)
    .set({ usedAt: now })
    .where(
      and(
        eq(verificationLinks.tokenHash, tokenHash),
        isNull(verificationLinks.usedAt),
        gt(verificationLinks.expiresAt, now),
      ),
    )
    .returning();
  if (link === undefined) throw invalidLink();

  return link;
}
