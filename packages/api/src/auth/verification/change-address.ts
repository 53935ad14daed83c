import { and, eq, gt, isNull, ne } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { recordChange } from '../../changes/record-change.ts';
import { deleteWithoutMembers } from '../../organisations/organisation.ts';
import { type Ended, endStarted, revokeKeysField } from '../../organisations/started.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { oneTimeTokens, signUps, users, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError, isSqlState } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { verifyPassword } from '../../platform/security/password.ts';
import { countFailures, passwordLimits } from '../../platform/security/throttle.ts';
import { hashToken } from '../../platform/security/token.ts';
import { requireReview } from '../factors/review.ts';
import { endStepsAndTrust } from '../factors/step-attempt.ts';
import { wrongPassword } from '../password/confirm-password.ts';
import { consumeOneTimeToken, newPageToken } from '../password/one-time-token.ts';
import { readWhatLinksEnd } from '../password/set-password.ts';
import { type Account, accountByEmail, accountById, lockUser } from '../sessions/account.ts';
import { isKnownBrowser } from '../sessions/known-browser.ts';
import { unlinkFrom } from '../sign-in/unlink-identity.ts';
import { endEqualLinks, endLinks, invalidLink, linkOfPageToken, type OpenedLink, type Outcome } from './link.ts';

/**
 * Changes the address in a browser where the user who requested it is signed in. In any other browser nothing changes,
 * and the outcome offers a form that changes it with the account's password: the address may be that of a stranger, who
 * opens every link.
 *
 * @throws AppError VALIDATION if the account is closed, or the address belongs to another one.
 */
export async function openChangeLink(
  app: App,
  tx: Transaction,
  { link, signedInUserId, client }: OpenedLink,
): Promise<Outcome> {
  const changes = signedInUserId === link.userId;
  const { keptSessionId: kept, revokesKeys } = link;
  const ended = changes ? await applyAddressChange(app, tx, link, { kept, revokesKeys, client }) : null;
  if (ended === null) {
    await requireFreeAddress(app, tx, link);
    await endEqualLinks(tx, link, app.now());
  }

  const awaitingApproval = (await accountById(tx, link.userId))?.accountStatus === 'awaiting_approval';
  if (ended !== null) return { ok: true, kind: 'address-changed', awaitingApproval, ended };
  return { ok: true, kind: 'change-offered', awaitingApproval, ...(await offerChange(app, tx, link)) };
}

/** Returns the form on the link's page: the new address and a new token. */
export async function offerChange(app: App, tx: Transaction, link: OpenedLink['link']) {
  return { email: link.email, changeToken: await newPageToken(app, tx, link, 'change-address') };
}

export const addressChangeTokenInput = z.object({ token: z.string({ error: zodMessage('link_no_longer_valid') }) });

export const confirmAddressChangeInput = addressChangeTokenInput.extend({
  /** The password of the account whose address changes. */
  password: z.string({ error: zodMessage('enter_password') }).min(1, zodMessage('enter_password')),
  /** Keeps the connected identity, which the page names. */
  keep_identity: z.boolean().optional(),
  revoke_keys: revokeKeysField,
});

/**
 * Changes the address of a user by the form on the page of the link that went to the new one, with the password of that
 * account: a link alone proves only that its mail arrived. Ends every session, unlinks a connected identity unless it is
 * kept, and opens no session. Wrong passwords are failures of sign-in, and leave the form as it was. Returns what ended.
 *
 * @throws AppError VALIDATION if the token is unknown, used or expired, the account is closed, or the address is taken;
 *   UNAUTHENTICATED with the field `password` if it is wrong; TOO_MANY; BUSY if too many passwords are being hashed.
 */
export async function confirmAddressChange(
  app: App,
  input: z.output<typeof confirmAddressChangeInput>,
  client: Client,
): Promise<Ended> {
  const { token, password, keep_identity: keepsIdentity, revoke_keys: revokesKeys } = input;
  const { user } = (await ownerOf(app, token)).account;
  const browser = client.knownBrowser ?? null;
  const isKnown = await isKnownBrowser(app, app.db, { email: user.email, token: browser });
  const limits = passwordLimits({ email: user.email, client, knownAs: isKnown ? browser : null });
  const { right } = await countFailures(app.throttle, limits, async () => ({
    right: await verifyPassword(user.passwordHash, password, client),
  }));
  if (!right) {
    await recordAudit(app.db, app.now(), { action: 'password-check-failed', userId: user.id, client });
    throw wrongPassword('password');
  }

  return app.db.transaction(async (tx) => {
    const { link, account } = await linkOfPageToken(tx, await consumeOneTimeToken(app, tx, token, ['change-address']));
    if (account.user.passwordHash !== user.passwordHash) throw wrongPassword('password');
    const ended = await applyAddressChange(app, tx, link, { kept: null, revokesKeys, client });
    if (!keepsIdentity) await unlinkFrom(app, tx, { userId: account.user.id, client });
    await requireReview(app, tx, account.user.id);
    return ended;
  });
}

/**
 * Returns what the form would change, for the page that asks: the new address, the account as it is now, and what ends.
 *
 * @throws AppError VALIDATION if the token is unknown, used or expired, or the account is closed.
 */
export async function readAddressChangeToken(app: App, { token }: z.output<typeof addressChangeTokenInput>) {
  const { account, email } = await ownerOf(app, token);
  const [organisation] = await app.db
    .select({ name: organisations.name, slug: organisations.slug })
    .from(organisations)
    .where(eq(organisations.id, account.organisationId ?? account.user.id));
  return {
    email,
    account: { email: account.user.email, organisation: organisation ?? null },
    has_password: account.user.passwordHash !== null,
    ...(await readWhatLinksEnd(app, account.user.id)),
  };
}

/** Reads the token's account and new address without consuming the token, so that a wrong password leaves it valid. */
async function ownerOf(app: App, token: string) {
  const [held] = await app.db
    .select({ userId: oneTimeTokens.userId, email: verificationLinks.email })
    .from(oneTimeTokens)
    .innerJoin(verificationLinks, eq(verificationLinks.tokenHash, oneTimeTokens.linkHash))
    .where(
      and(
        eq(oneTimeTokens.tokenHash, hashToken(token)),
        eq(oneTimeTokens.purpose, 'change-address'),
        gt(oneTimeTokens.expiresAt, app.now()),
      ),
    );
  const account = held === undefined ? null : await accountById(app.db, held.userId);
  if (held === undefined || account === null || account.accountStatus === 'closed') {
    throw new AppError('VALIDATION', message('link_no_longer_valid'));
  }
  return { account, email: held.email };
}

type Link = typeof verificationLinks.$inferSelect;

/**
 * Gives a user the address to which a link for a change was mailed, and ends their other sessions, with the invitations
 * and password links that they made, and every link of theirs. API keys stay, unless the user says otherwise. `kept` is
 * the session that goes on: the one that asked, where the link was opened in a session of the user. Returns what ended.
 *
 * @throws AppError VALIDATION if the account is closed, or the address is taken.
 */
async function applyAddressChange(
  app: App,
  tx: Transaction,
  link: Link,
  { kept, revokesKeys = false, client }: { kept: string | null; revokesKeys?: boolean | undefined; client: Client },
): Promise<Ended> {
  const { userId, email } = link;
  const unverified = await requireFreeAddress(app, tx, link);

  if (unverified !== null) await deleteUnverified(tx, unverified.user.id);
  await setAddress(tx, userId, email);
  const others = kept === null ? undefined : ne(sessions.id, kept);
  await tx.delete(sessions).where(and(eq(sessions.userId, userId), others));
  if (kept === null) await endStepsAndTrust(app, tx, userId);
  const keys = revokesKeys ? 'revoke' : 'keep';
  const actor = { actorId: userId, client };
  const ended = await endStarted(tx, app.now(), { userId, of: 'everything', keys, actor });
  await endLinks(tx, userId, app.now(), link);
  await tx.delete(oneTimeTokens).where(eq(oneTimeTokens.userId, userId));
  await recordAudit(tx, app.now(), { action: 'address-changed', actorId: userId, userId, client });
  await recordChange(tx, app.now(), { type: 'user.email_changed', userId, data: { email } });
  return ended;
}

/** Whether a link for a change of address can still give its address to its user. */
export async function isFreeAddress(app: App, tx: Transaction, link: Link): Promise<boolean> {
  return (await readOtherAccount(app, tx, link)) !== 'taken';
}

/**
 * Checks that a link can still give its address to its user.
 *
 * @returns the locked account that has the address without having verified it, or null.
 * @throws AppError VALIDATION if the account is closed, or the address belongs to another one.
 */
async function requireFreeAddress(app: App, tx: Transaction, link: Link) {
  const other = await readOtherAccount(app, tx, link);
  if (other === 'taken') throw invalidLink();
  return other;
}

async function readOtherAccount(app: App, tx: Transaction, { userId, email }: Link) {
  const other = await lockAccount(tx, email);
  const account = await accountById(tx, userId);
  if (account === null || account.accountStatus === 'closed') return 'taken';
  if (other === null || other.user.id === userId) return null;
  return (await isTaken(app, tx, other)) ? 'taken' : other;
}

/**
 * Whether nobody else can be given the address of an account: it is verified, a key or an import made it, or a sign-up
 * with it can still be confirmed. Otherwise its owner, who opens a stranger's link by mistake, would lose their own sign-up.
 */
export async function isTaken(app: App, db: Executor, { user, accountStatus }: Account): Promise<boolean> {
  if (accountStatus !== 'unverified') return true;
  if ((await db.$count(users, and(eq(users.id, user.id), eq(users.provisioned, true)))) > 0) return true;

  const now = app.now();
  const ofUser = and(eq(verificationLinks.userId, user.id), eq(verificationLinks.purpose, 'sign-up'));
  const open = and(ofUser, isNull(verificationLinks.usedAt), gt(verificationLinks.expiresAt, now));
  if ((await db.$count(verificationLinks, open)) > 0) return true;
  // The link of a sign-up may not have been mailed yet.
  const oldest = new Date(now.getTime() - app.config.verificationTtlSeconds * 1000);
  const pending = and(eq(signUps.userId, user.id), isNull(signUps.usedAt), gt(signUps.createdAt, oldest));
  return (await db.$count(signUps, pending)) > 0;
}

/** Locks the account that has the address, because it may be verified concurrently. */
async function lockAccount(tx: Transaction, email: string) {
  const found = await accountByEmail(tx, email);
  if (found === null || !(await lockUser(tx, found.user.id))) return null;
  return accountByEmail(tx, email);
}

async function deleteUnverified(tx: Transaction, userId: string): Promise<void> {
  const owned = await tx
    .select({ id: memberships.organisationId })
    .from(memberships)
    .where(eq(memberships.userId, userId));
  await tx.delete(users).where(and(eq(users.id, userId), isNull(users.emailVerifiedAt)));
  await deleteWithoutMembers(
    tx,
    owned.map(({ id }) => id),
  );
}

/** The unique constraint refuses an address that another account took concurrently. */
async function setAddress(tx: Transaction, userId: string, email: string): Promise<void> {
  try {
    await tx.transaction((savepoint) => savepoint.update(users).set({ email }).where(eq(users.id, userId)));
  } catch (error) {
    throw isSqlState(error, '23505') ? invalidLink() : error;
  }
}
