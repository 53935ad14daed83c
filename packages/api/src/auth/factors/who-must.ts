import { and, eq, isNull, lte, not, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Executor } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { hasFactor } from './has-factor.ts';

/** Who requires the second factor that a user has yet to set up, or to give: the service, or the organisation. */
export type RequiredBy = 'deployment' | 'organisation';

type Facts = {
  operator: boolean;
  hasFactor: boolean;
  /** Whether an identity of the provider was the second factor of the session's sign-in. */
  identityFactor: boolean;
  /** Since when the organisation that the session acts for requires a factor; null if it does not. */
  requiredFrom: Date | null;
};

/**
 * Returns who requires a second factor of a session's user who has none; null where nobody does, or the user has one. An
 * identity that counts as a factor is one where everybody must have one, but neither for an operator nor in an
 * organisation that requires a factor: there the account's own one has to be set up, or given in this session.
 */
export function missingFactor(app: App, { operator, hasFactor, identityFactor, requiredFrom }: Facts) {
  const { secondFactor, idpTrustedForSecondFactor } = app.config;
  const own = hasFactor && !identityFactor;
  if (operator && secondFactor !== 'none' && !own) return 'deployment';
  const trusted = identityFactor && idpTrustedForSecondFactor;
  if (secondFactor === 'everybody' && !hasFactor && !trusted) return 'deployment';
  return isInEffect(app, requiredFrom) && !own ? 'organisation' : null;
}

/** Whether an organisation's rule has begun. */
export function isInEffect(app: App, requiredFrom: Date | null): boolean {
  return requiredFrom !== null && requiredFrom <= app.now();
}

/** Whether a user must have a second factor: by SECOND_FACTOR, or by any organisation of theirs. */
export async function mustHaveFactor(app: App, db: Executor, userId: string): Promise<boolean> {
  const { secondFactor } = app.config;
  if (secondFactor === 'everybody') return true;
  const isOperator = and(eq(users.id, userId), eq(users.operator, true));
  if (secondFactor === 'operators' && (await db.$count(users, isOperator)) > 0) return true;
  const [requiring] = await db
    .select({ id: organisations.id })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(and(eq(memberships.userId, userId), lte(organisations.secondFactorFrom, app.now())))
    .limit(1);
  return requiring !== undefined;
}

/** So long an operator who must have a second factor and has none keeps the power of the mark. */
const graceMilliseconds = 7 * dayMilliseconds;

/**
 * Begins the seven days of every operator whom the rule meets without a second factor: after a grant, an upgrade, a
 * reset, or the removal of the last one. Runs each hour, so that none of these has to remember it.
 */
export async function beginFactorGrace(app: App): Promise<void> {
  if (app.config.secondFactor === 'none') return;
  const factorDueAt = new Date(app.now().getTime() + graceMilliseconds);
  const isWithout = and(eq(users.operator, true), isNull(users.factorDueAt), not(hasFactor));
  await app.db.transaction(async (tx) => {
    // A factor that is set up at this moment commits first, and the next statement sees it.
    await tx.select({ id: users.id }).from(users).where(isWithout).orderBy(users.id).for('update');
    await tx.update(users).set({ factorDueAt }).where(isWithout);
  });
}

/** A factor was set up in time. After the seven days only a new grant brings the mark's power back. */
export async function endFactorGrace(app: App, db: Executor, userId: string): Promise<void> {
  const isInTime = sql`${users.factorDueAt} > ${app.now().toISOString()}::timestamptz`;
  await db
    .update(users)
    .set({ factorDueAt: null })
    .where(and(eq(users.id, userId), isInTime));
}
