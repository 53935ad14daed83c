import { and, asc, eq, isNull, not } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import { hasFactor } from '../auth/factors/has-factor.ts';
import { confirmation, confirmUser } from '../auth/password/fresh-sign-in.ts';
import type { Administrator } from '../auth/principal.ts';
import { organisationField, requireSameOrganisation } from '../auth/sessions/require-same-organisation.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { AppError, invalid } from '../platform/errors.ts';
import { message, zodMessage } from '../platform/messages.ts';
import type { Client } from '../platform/security/client.ts';
import { lockMembers, requireAdministrator, requireOwner } from './lock-members.ts';

export const requireSecondFactorInput = z.object({
  organisation_id: organisationField,
  /** The first day, in UTC, on which members need a factor; null, or empty in a form: none is required. */
  from: z.union(
    [z.literal('').transform(() => null), z.null(), z.iso.date(zodMessage('enter_date'))],
    zodMessage('enter_date'),
  ),
  ...confirmation,
});

/** A date further ahead is a typing mistake. */
const longestMilliseconds = 366 * dayMilliseconds;

/**
 * Requires a second factor of the organisation's members from a day on, or no longer. From then on members without one
 * hold no scopes here until they have set one up; API keys are not concerned. Only an owner with a factor decides this,
 * and confirms it by the password and the factor, or by a fresh session.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND for another organisation; FORBIDDEN if the caller is not an owner, or no
 *   longer one; CONFLICT if they have no second factor; FRESH_SIGN_IN_REQUIRED; VALIDATION for a day in the past or more
 *   than a year ahead; UNAUTHENTICATED for a wrong password or code, or an ended session; TOO_MANY; BUSY.
 */
export async function requireSecondFactor(
  app: App,
  principal: Administrator,
  { organisation_id, from, ...confirming }: z.output<typeof requireSecondFactorInput>,
  client: Client,
): Promise<void> {
  const { id: organisationId } = requireSameOrganisation(principal, organisation_id);
  requireOwner(principal.role, message('owner_requires_factor'));
  if (!principal.hasFactor) throw new AppError('CONFLICT', message('own_factor_first'));
  await confirmUser(app, principal, confirming, client);
  const secondFactorFrom = from === null ? null : firstMoment(app, from);

  await app.db.transaction(async (tx) => {
    requireOwner(
      await requireAdministrator(tx, await lockMembers(tx, organisationId), principal),
      message('owner_requires_factor'),
    );
    await tx.update(organisations).set({ secondFactorFrom }).where(eq(organisations.id, organisationId));
    const details: Record<string, string> = from === null ? {} : { from };
    await recordAudit(tx, app.now(), {
      action: from === null ? 'second-factor-not-required' : 'second-factor-required',
      actorId: principal.user.id,
      organisationId,
      client,
      details,
    });
  });
}

function firstMoment(app: App, day: string): Date {
  const moment = new Date(`${day}T00:00:00Z`);
  const ahead = moment.getTime() - app.now().getTime();
  if (ahead <= -dayMilliseconds) throw invalid({ from: message('day_in_past') });
  if (ahead > longestMilliseconds) throw invalid({ from: message('day_too_late') });
  return moment;
}

const maxNamed = 100;

/**
 * Returns since when the organisation requires a second factor, and which members have none: the first hundred by
 * address, and how many there are.
 *
 * @throws AppError NO_ORGANISATION.
 */
export async function readSecondFactorRule(app: App, principal: Administrator) {
  const { id: organisationId } = principal.requireOrganisation();
  const [rule] = await app.db
    .select({ from: organisations.secondFactorFrom })
    .from(organisations)
    .where(eq(organisations.id, organisationId));
  const isWithout = and(eq(memberships.organisationId, organisationId), isNull(users.suspendedAt), not(hasFactor));
  const without = await app.db
    .select({ id: users.id, email: users.email, name: users.name })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(isWithout)
    .orderBy(asc(users.email));
  return {
    /** The first day, in UTC. */
    from: rule?.from?.toISOString().slice(0, 10) ?? null,
    without: without.slice(0, maxNamed),
    total_without: without.length,
  };
}
