import { and, gt, inArray, isNotNull, isNull, lt, notInArray, or, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { sweepAudit } from '../audit/sweep.ts';
import {
  memberships,
  oneTimeTokens,
  organisations,
  rateLimits,
  signInAttempts,
  signUps,
  users,
  verificationLinks,
  waysBack,
} from '../db/schema.ts';
import { deleteExpiredSessions } from '../sessions/session.ts';

const unverifiedDays = 7;
const day = 86_400_000;

/**
 * Removes what nobody needs any more: accounts never verified after seven days with
 * their organisations, used sign-ups and used or expired links after a day, dead
 * sessions, attempts and ways back.
 */
export async function sweep(app: App): Promise<void> {
  const now = app.now();
  const yesterday = new Date(now.getTime() - day);

  await app.db.transaction(async (tx) => {
    const living = tx
      .select({ id: verificationLinks.userId })
      .from(verificationLinks)
      .where(and(gt(verificationLinks.expiresAt, now), isNull(verificationLinks.usedAt)));
    const gone = await tx
      .delete(users)
      .where(
        and(
          isNull(users.emailVerifiedAt),
          lt(users.createdAt, new Date(now.getTime() - unverifiedDays * day)),
          // Somebody who signs up again on the last day still has an hour to open the link.
          notInArray(users.id, living),
        ),
      )
      .returning({ id: users.id });
    if (gone.length > 0) await deleteEmptyOrganisations();

    async function deleteEmptyOrganisations() {
      const members = tx.select({ id: memberships.organisationId }).from(memberships);
      await tx
        .delete(organisations)
        .where(and(isNull(organisations.approvedAt), sql`${organisations.id} not in ${members}`));
    }
  });
  await app.db
    .delete(verificationLinks)
    .where(or(lt(verificationLinks.usedAt, yesterday), lt(verificationLinks.expiresAt, yesterday)));
  await deleteSignUps(app, yesterday);
  await app.db.delete(oneTimeTokens).where(lt(oneTimeTokens.expiresAt, yesterday));
  await app.db.delete(signInAttempts).where(lt(signInAttempts.expiresAt, now));
  await app.db.delete(rateLimits).where(lt(rateLimits.expire, now.getTime()));
  await app.db.delete(waysBack).where(lt(waysBack.expiresAt, now));
  await sweepAudit(app.db, now, app.config.retentionDays);
  await deleteExpiredSessions(app);
}

/** Those that were used, and those for an address that is confirmed: what was typed then can never become valid. */
async function deleteSignUps(app: App, before: Date): Promise<void> {
  const verified = app.db.select({ id: users.id }).from(users).where(isNotNull(users.emailVerifiedAt));
  await app.db
    .delete(signUps)
    .where(or(lt(signUps.usedAt, before), and(lt(signUps.createdAt, before), inArray(signUps.userId, verified))));
}
