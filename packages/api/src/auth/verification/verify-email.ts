import { and, eq, gt, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { recordAllJoined } from '../../changes/record-change.ts';
import { approveByAddress } from '../../organisations/approve.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { signUps, users, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { isAppError } from '../../platform/errors.ts';
import { type Client, clientKey } from '../../platform/security/client.ts';
import { hashToken } from '../../platform/security/token.ts';
import { type Account, accountById, isUserUnclaimed, lockUser } from '../sessions/account.ts';
import { readSession } from '../sessions/session.ts';
import { endSignUps, settleOrganisation, signUpOf } from '../sign-up/pending-sign-up.ts';
import { openChangeLink } from './change-address.ts';
import { explainLink } from './explain-link.ts';
import { acceptSignUp, requestedBy } from './keep-password.ts';
import { createOffers, endEqualLinks, type FailedOutcome, invalidLink, type OpenedLink, type Outcome } from './link.ts';

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
    return app.db.transaction((tx) => explainLink(app, tx, { tokenHash, browserToken, text: error.text }));
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

/**
 * Opens the e-mail gate. In the browser of the link's sign-up, the password and the
 * organisation's name typed there become valid. In any other browser no password becomes
 * valid, and the outcome offers a form to choose one. The same holds for a new sign-up of an account that
 * nobody has followed up since a mail scanner opened its gate.
 *
 * @throws AppError VALIDATION if the account is closed, or verified and not unclaimed.
 */
async function openSignUpLink(app: App, tx: Transaction, opening: OpenedLink): Promise<Outcome> {
  const { link, browserToken, client } = opening;
  const signUp = await signUpOf(tx, link, browserToken);
  const account = await accountById(tx, link.userId);
  if (account === null || account.accountStatus === 'closed') throw invalidLink();

  if (account.accountStatus === 'unverified') await confirmAddress(app, tx, { opening, signUp, account });
  else if (!(await isUserUnclaimed(tx, link.userId))) throw invalidLink();
  else if (signUp !== null) await acceptSignUp(app, tx, { signUp, user: account.user, client });
  else if (account.organisationId === null) await settleUnproved(tx, app.now(), { link, account });
  await endEqualLinks(tx, link, app.now());

  const verified = await accountById(tx, link.userId);
  if (verified === null) throw invalidLink();
  return {
    ok: true,
    kind: 'address-confirmed',
    email: link.email,
    awaitingApproval: verified.accountStatus === 'awaiting_approval',
    invited: verified.organisationId === null,
    offers: await createOffers(app, tx, { link, browserToken, account: verified }),
  };
}

type Confirmed = { opening: OpenedLink; signUp: typeof signUps.$inferSelect | null; account: Account };

/** Verifies the address of an account; `signUp` is that of the link where its own browser opened it. */
async function confirmAddress(
  app: App,
  tx: Transaction,
  { opening: { link, client }, signUp, account }: Confirmed,
): Promise<void> {
  const { userId, email } = link;
  const now = app.now();
  const organisationId =
    signUp === null
      ? await settleUnproved(tx, now, { link, account })
      : await settleOrganisation(tx, now, { userId, email, wanted: requestedBy(signUp) });
  await tx
    .update(users)
    .set({ emailVerifiedAt: now, ...(signUp && { passwordHash: signUp.passwordHash }) })
    .where(eq(users.id, userId));
  if (signUp !== null) await endSignUps(tx, userId, now);
  await recordAudit(tx, now, {
    action: 'address-verified',
    userId,
    organisationId,
    client,
    details: { same_browser: String(signUp !== null) },
  });
  await recordAllJoined(tx, now, userId);
  if (signUp !== null && organisationId !== null)
    await approveByAddress(app, tx, { organisationId, ownerId: userId, email, client });
}

/**
 * A link opened in another browser does not prove any of the typed names. An existing
 * organisation stays, without a name. Without one, an organisation is created unless all
 * sign-ups were by invitation. Returns the organisation's id, or null.
 */
async function settleUnproved(
  tx: Transaction,
  now: Date,
  { link: { userId, email }, account: { organisationId } }: Pick<OpenedLink, 'link'> & { account: Account },
): Promise<string | null> {
  const own = and(eq(signUps.userId, userId), eq(signUps.invited, false), isNull(signUps.usedAt));
  const wantsOne = organisationId !== null || (await tx.$count(signUps, own)) > 0;
  return settleOrganisation(tx, now, { userId, email, wanted: wantsOne ? { name: null } : null });
}

/**
 * Consumes the link of a verified account, for a lost password. Nothing else changes: the
 * outcome offers the form that sets a new one.
 *
 * @throws AppError VALIDATION if the account is closed, or has another address now.
 */
async function openPasswordLink(app: App, tx: Transaction, { link, browserToken }: OpenedLink): Promise<Outcome> {
  const account = await accountById(tx, link.userId);
  if (account === null || account.accountStatus === 'closed' || account.user.email !== link.email) {
    throw invalidLink();
  }
  await endEqualLinks(tx, link, app.now());

  return {
    ok: true,
    kind: 'password-offered',
    awaitingApproval: account.accountStatus === 'awaiting_approval',
    email: link.email,
    offers: await createOffers(app, tx, { link, browserToken, account }),
  };
}
