import { and, eq, isNotNull, isNull, notInArray } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { passkeys, recoveryCodes, totpSecrets } from '../../platform/db/schema/factors.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { isFresh } from '../password/fresh-sign-in.ts';
import type { UserPrincipal } from '../principal.ts';
import { lockUser } from '../sessions/account.ts';
import { requireExistingSession } from '../sessions/session.ts';
import { unlinkFrom } from '../sign-in/unlink-identity.ts';
import { hasFactor, readFactors, userHasFactor } from './has-factor.ts';
import { endTrust } from './step-attempt.ts';

/**
 * After a password or an address was set by a link, passkeys of the user open no session by themselves, and their pages
 * lead to the review, until the user has answered it: whoever knew the old password may have added a factor. Nothing
 * changes for a user without one. The caller has locked the user's row.
 */
export async function requireReview(app: App, tx: Transaction, userId: string): Promise<void> {
  await tx
    .update(users)
    .set({ reviewSince: app.now() })
    .where(and(eq(users.id, userId), hasFactor));
}

/**
 * Whether the session may answer the review: it is fresh by a factor, unless the last one was removed since, and by the
 * password where there is one, because whoever knew the old one may have added both the identity and the factor.
 */
function mayAnswer(app: App, principal: UserPrincipal): boolean {
  const { freshByFactor, hasFactor: hasOne, byIdentity, hasPassword } = principal;
  return isFresh(app, principal) && (freshByFactor || !hasOne) && !(byIdentity && hasPassword);
}

/** Returns what the review asks about: every way in that somebody else may have added, with its dates. */
export async function readReview(app: App, principal: UserPrincipal) {
  const { user, reviewPending } = principal;
  const { passkeys: keys, totpSince } = await readFactors(app.db, user.id);
  const [identity] = await app.db
    .select({ email: identities.email, issuer: identities.issuer, linkedAt: identities.linkedAt })
    .from(identities)
    .where(and(eq(identities.userId, user.id), isNull(identities.unlinkedAt)));
  return {
    pending: reviewPending,
    /** Whether the user has to sign in again before they can answer. */
    asks_first: !mayAnswer(app, principal),
    totp: totpSince && { created_at: totpSince.toISOString() },
    identity: identity && { name: identity.email ?? identity.issuer, linked_at: identity.linkedAt.toISOString() },
    passkeys: keys.map(({ id, name, createdAt, lastUsedAt }) => ({
      id,
      name,
      created_at: createdAt.toISOString(),
      last_used_at: lastUsedAt?.toISOString() ?? null,
    })),
  };
}

export const answerReviewInput = z.object({
  /** `totp`, `identity` and the ids of passkeys; what it lacks is removed. */
  keep: z.array(z.string({ error: zodMessage('no_such_factor') }), { error: zodMessage('no_such_factor') }).max(100),
});

/**
 * Keeps what the user ticked of the review and removes the rest; with the last factor the recovery codes go. Passkeys
 * open sessions again. The session must be fresh by the password and a factor, so that only who has both answers. Allowed
 * while the account awaits approval.
 *
 * @throws AppError FRESH_SIGN_IN_REQUIRED; CONFLICT if there is nothing to answer; UNAUTHENTICATED if the session has ended.
 */
export async function answerReview(
  app: App,
  principal: UserPrincipal,
  { keep }: z.output<typeof answerReviewInput>,
  client: Client,
): Promise<void> {
  const { id: userId } = principal.user;
  if (!mayAnswer(app, principal)) throw new AppError('FRESH_SIGN_IN_REQUIRED', message('confirm_user'));

  await app.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    await requireExistingSession(tx, principal);
    const answered = await tx
      .update(users)
      .set({ reviewSince: null })
      .where(and(eq(users.id, userId), isNotNull(users.reviewSince)))
      .returning({ id: users.id });
    if (answered.length === 0) throw new AppError('CONFLICT', message('nothing_to_review'));

    const removes = { action: 'factor-removed', actorId: userId, userId, client } as const;
    const recordRemoval = (factor: string) => recordAudit(tx, app.now(), { ...removes, details: { factor } });
    const kept = keep.filter((id) => z.uuid().safeParse(id).success);
    const removed = await tx
      .delete(passkeys)
      .where(and(eq(passkeys.userId, userId), kept.length === 0 ? undefined : notInArray(passkeys.id, kept)))
      .returning({ id: passkeys.id });
    for (const _ of removed) await recordRemoval('passkey');
    if (!keep.includes('totp')) {
      const secrets = await tx.delete(totpSecrets).where(eq(totpSecrets.userId, userId)).returning();
      if (secrets.some(({ confirmedAt }) => confirmedAt !== null)) await recordRemoval('authenticator app');
    }
    if (!keep.includes('identity')) {
      await unlinkFrom(app, tx, { actorId: userId, userId, client });
      // Those that it opened since.
      await tx.delete(sessions).where(and(eq(sessions.userId, userId), isNotNull(sessions.idpSubject)));
    }
    if (!(await userHasFactor(tx, userId))) await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
    await endTrust(tx, userId);
  });
}
