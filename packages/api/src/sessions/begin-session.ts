import { and, desc, eq, gt, isNull, notInArray } from 'drizzle-orm';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import type { Transaction } from '../db/client.ts';
import { newId } from '../db/id.ts';
import { identities, users } from '../db/schema/accounts.ts';
import { organisations } from '../db/schema/organisations.ts';
import { sessions } from '../db/schema/sessions.ts';
import { AppError } from '../errors.ts';
import { accountStatusOf } from '../organisations/account-status.ts';
import { rememberBrowser } from './known-browser.ts';

/** The most sessions that a user has at a time. */
export const mostSessions = 50;

type Beginning = {
  idHash: string;
  userId: string;
  organisationId: string | null;
  /** What the person proved themselves by; null where it was something else. */
  passwordHash: string | null;
  idpSubject: string | null;
  expiresAt: Date;
  client: string;
  userAgent: string | null;
  /** The token of the browser's cookie `known`; null where no browser signs in. */
  browserToken: string | null;
};

/**
 * Writes a session down, and that somebody signed in, unless what it stands on has changed
 * since it was looked at. The user's row is locked: a password that changes meanwhile, or an
 * account that is closed, is seen here, or ends the session there; and sign-ins of one user take
 * turns, so that the user never has more than 50 sessions. Beyond that the oldest ends.
 *
 * @throws AppError UNAUTHENTICATED where the account is gone or not verified, or is not who
 *   was proved any more; FORBIDDEN where it is closed.
 */
export async function beginSession(app: App, beginning: Beginning): Promise<void> {
  const { userId, organisationId, passwordHash, idpSubject, client, userAgent, browserToken, ...session } = beginning;
  const now = app.now();

  await app.db.transaction(async (tx) => {
    // The user before the organisation, as wherever both are locked.
    const [holder] = await tx.select().from(users).where(eq(users.id, userId)).for('no key update');
    const organisation = organisationId === null ? null : await shareOrganisation(tx, organisationId);
    const isSame =
      holder !== undefined &&
      (passwordHash === null || holder.passwordHash === passwordHash) &&
      (idpSubject === null || (await isLinked(tx, userId, idpSubject)));
    if (!isSame) throw new AppError('UNAUTHENTICATED', 'E-mail or password is wrong.');
    const accountStatus = accountStatusOf(holder, organisation);
    if (accountStatus === 'closed') throw new AppError('FORBIDDEN', 'This account is closed.');
    if (accountStatus === 'unverified') throw new AppError('UNAUTHENTICATED', 'E-mail or password is wrong.');

    await endOldest(tx, userId, now);
    const holds = { userId, organisationId: organisation?.id ?? null, client, userAgent };
    await tx.insert(sessions).values({ ...session, ...holds, id: newId(now), idpSubject, createdAt: now });
    if (browserToken !== null) await rememberBrowser(app, tx, userId, browserToken);
    await recordAudit(tx, now, {
      action: 'signed-in',
      actorId: userId,
      userId,
      organisationId: holds.organisationId,
      client: { address: client, userAgent },
      details: wayOf({ passwordHash, idpSubject }),
    });
  });
}

/** Makes room for one more session: all but the newest 49 that have not expired end. */
async function endOldest(tx: Transaction, userId: string, now: Date): Promise<void> {
  const kept = tx
    .select({ idHash: sessions.idHash })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, now)))
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(mostSessions - 1);
  await tx.delete(sessions).where(and(eq(sessions.userId, userId), notInArray(sessions.idHash, kept)));
}

async function isLinked(tx: Transaction, userId: string, subject: string): Promise<boolean> {
  const isOwn = and(eq(identities.userId, userId), eq(identities.subject, subject));
  return (await tx.$count(identities, and(isOwn, isNull(identities.unlinkedAt)))) > 0;
}

async function shareOrganisation(tx: Transaction, id: string) {
  const [organisation] = await tx.select().from(organisations).where(eq(organisations.id, id)).for('share');
  return organisation ?? null;
}

function wayOf({ passwordHash, idpSubject }: Pick<Beginning, 'passwordHash' | 'idpSubject'>): Record<string, string> {
  if (idpSubject !== null) return { with: 'identity provider' };
  return passwordHash === null ? {} : { with: 'password' };
}
