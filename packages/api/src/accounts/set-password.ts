import { and, eq, gt, inArray } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { record } from '../audit/record.ts';
import { oneTimeTokens, sessions, users } from '../db/schema.ts';
import { invalid, Refusal } from '../errors.ts';
import { hashPassword, newPasswordField, passwordFault } from '../security/password.ts';
import { hashToken } from '../security/token.ts';
import { personById } from '../sessions/person.ts';
import { endChangeLinks } from './end-change-links.ts';
import { endInvitations } from './end-invitations.ts';
import { takeOneTimeToken } from './one-time-token.ts';

type Client = { address: string; userAgent: string | null };

const settingPurposes: ('password-link' | 'first-password')[] = ['password-link', 'first-password'];

export const setPasswordInput = z.object({
  token: z.string({ error: 'This link is not valid any more.' }),
  password: newPasswordField,
});

/**
 * Sets a password for the holder of a one-time token: an operator's password link, or
 * the form on the page of a verification link that carried none. All of the person's
 * sessions, other tokens and unused invitations end, and none begins.
 *
 * @throws Refusal VALIDATION for a dead token or a password that will not do.
 */
export async function setPassword(app: App, { token, password }: z.output<typeof setPasswordInput>, client: Client) {
  const owner = await ownerOf(app, token);
  const fault = await passwordFault(password, [owner.email, app.config.service.name]);
  if (fault !== null) throw invalid({ password: fault });
  const passwordHash = await hashPassword(password, client);

  await app.db.transaction(async (tx) => {
    const { userId } = await takeOneTimeToken(app, tx, token, settingPurposes);
    // Once more, now that nobody can close the account: the hash took its time.
    if ((await personById(tx, userId))?.standing === 'closed') throw notValid();
    await tx.update(users).set({ passwordHash }).where(eq(users.id, userId));
    await tx.delete(oneTimeTokens).where(eq(oneTimeTokens.userId, userId));
    await tx.delete(sessions).where(eq(sessions.userId, userId));
    await endInvitations(tx, userId, null);
    await endChangeLinks(tx, userId);
    await record(tx, app.now(), { action: 'password-set', userId, client });
  });
}

export const passwordTokenInput = z.object({ token: z.string({ error: 'This link is not valid any more.' }) });

/** Whose password a one-time token would set, without taking it. @throws Refusal VALIDATION for a dead one. */
export async function readPasswordToken(app: App, { token }: z.output<typeof passwordTokenInput>) {
  const { email } = await ownerOf(app, token);
  return { email };
}

/** Read before the password is judged, so that a bad password does not use the token up. */
async function ownerOf(app: App, token: string) {
  const [held] = await app.db
    .select({ userId: oneTimeTokens.userId })
    .from(oneTimeTokens)
    .where(
      and(
        eq(oneTimeTokens.tokenHash, hashToken(token)),
        inArray(oneTimeTokens.purpose, settingPurposes),
        gt(oneTimeTokens.expiresAt, app.now()),
      ),
    );
  const person = held === undefined ? null : await personById(app.db, held.userId);
  if (person === null || person.standing === 'closed') throw notValid();
  return person.user;
}

function notValid(): Refusal {
  return new Refusal('VALIDATION', 'This link is not valid any more.');
}
