import { and, desc, eq, isNotNull } from 'drizzle-orm';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import { endTrust } from '../auth/factors/step-attempt.ts';
import { lockUser } from '../auth/sessions/account.ts';
import { approvePending } from '../organisations/approve.ts';
import { type Ended, endStarted } from '../organisations/started.ts';
import { oneTimeTokens, users } from '../platform/db/schema/accounts.ts';
import { AppError } from '../platform/errors.ts';
import type { Actor } from './actor.ts';
import { readUser, requireVerified } from './find-accounts.ts';
import { ownedOrganisations } from './queue/decide.ts';

type Input = { userId: string };

/**
 * Makes a user an operator, and approves the organisations that the user owns and that await approval. Only the
 * command approve ends a decline. Password links that a person or an API key made for the user end, because only an
 * admin command makes them for operators.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the account is closed or its address is unverified.
 */
export function grantOperator(app: App, { userId }: Input, actor: Actor): Promise<void> {
  return app.db.transaction(async (tx) => {
    await requireVerified(tx, userId);

    await tx.update(users).set({ operator: true, factorDueAt: null }).where(eq(users.id, userId));
    await endTrust(tx, userId);
    await tx.delete(oneTimeTokens).where(and(eq(oneTimeTokens.userId, userId), isNotNull(oneTimeTokens.createdBy)));
    const organisationIds = (await ownedOrganisations(app, tx, userId)).map(({ id }) => id);
    if (organisationIds.length > 0) await approvePending(tx, { ...actor, now: app.now(), organisationIds });
    await recordAudit(tx, app.now(), { action: 'operator-granted', ...actor, userId });
  });
}

/**
 * Removes a user's operator mark. The password links and API keys that they made by it end, the keys unless they are
 * kept. Returns what ended.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the user is not an operator.
 */
export function revokeOperator(
  app: App,
  { userId, keepKeys = false }: Input & { keepKeys?: boolean },
  actor: Actor,
): Promise<Ended> {
  return app.db.transaction(async (tx) => {
    const { email } = await readUser(tx, userId);
    await lockUser(tx, userId);
    const changed = await tx
      .update(users)
      .set({ operator: false })
      .where(and(eq(users.id, userId), eq(users.operator, true)))
      .returning({ id: users.id });
    if (changed.length === 0) throw new AppError('VALIDATION', `${email} is no operator.`);

    await recordAudit(tx, app.now(), { action: 'operator-revoked', ...actor, userId });
    const keys = keepKeys ? 'keep' : 'revoke';
    return endStarted(tx, app.now(), { userId, of: 'operator', keys, actor });
  });
}

/** Returns the addresses of all operators, the newest account first. */
export async function listOperators(app: App): Promise<string[]> {
  const operators = await app.db
    .select({ email: users.email })
    .from(users)
    .where(eq(users.operator, true))
    .orderBy(desc(users.createdAt), desc(users.id));
  return operators.map(({ email }) => email);
}
