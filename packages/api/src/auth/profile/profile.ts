import { and, eq, isNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { recordChange } from '../../changes/record-change.ts';
import { readStarted } from '../../organisations/started.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import type { Client } from '../../platform/security/client.ts';
import { oneLine } from '../../platform/security/text.ts';
import { isFresh, isProviderConfirmed, maySetPassword } from '../password/fresh-sign-in.ts';
import type { Approved, UserPrincipal } from '../principal.ts';
import { listSessions } from '../sessions/session.ts';
import { pendingAddressChange } from '../verification/address-change-request.ts';

/** Returns what /account shows to a user: the user, the ways to sign in, and the sessions. */
export async function readProfile(app: App, principal: UserPrincipal) {
  const { user, sessionId } = principal;
  const [own] = await app.db
    .select({ passwordHash: users.passwordHash, idpSubject: identities.subject, createdAt: users.createdAt })
    .from(users)
    .leftJoin(identities, and(eq(identities.userId, users.id), isNull(identities.unlinkedAt)))
    .where(eq(users.id, user.id));
  const pending = await pendingAddressChange(app, app.db, user.id);
  const openSessions = await listSessions(app, user.id);

  return {
    user: {
      email: user.email,
      /** The address of a change that waits for its link to be opened. */
      new_email: pending?.email ?? null,
      name: user.name,
      created_at: own?.createdAt.toISOString() ?? null,
      has_password: own?.passwordHash != null,
      /** Whether a new password may be set without the current one. */
      may_set_password: await maySetPassword(app, app.db, principal),
      /** Whether the session is fresh, so that no form asks for the password. */
      fresh_sign_in: isFresh(app, principal),
      idp_linked: own?.idpSubject != null,
      /** Whether only a code is missing for a fresh session: the user has just come back from the provider. */
      provider_confirmed: await isProviderConfirmed(app, app.db, principal),
      has_factor: principal.hasFactor,
    },
    /** What ends with a new password, the API keys only if the user says so. */
    started: await readStarted(app.db, app.now(), { userId: user.id, of: 'everything' }),
    sessions: openSessions.map((session) => ({
      id: session.id,
      current: session.id === sessionId,
      created_at: session.createdAt.toISOString(),
      user_agent: session.userAgent,
      client: session.client,
      last_used_at: session.lastUsedAt.toISOString(),
      started_with: session.byPasskey
        ? ('passkey' as const)
        : session.idpSubject === null
          ? ('password' as const)
          : ('identity_provider' as const),
    })),
  };
}

export const changeNameInput = z.object({ name: oneLine(100) });

/** Changes a user's display name; an empty one removes it. */
export async function changeName(app: App, principal: Approved, { name: typed }: z.output<typeof changeNameInput>) {
  const { id: userId } = principal.user;
  const name = typed || null;

  await app.db.transaction(async (tx) => {
    const changed = await tx
      .update(users)
      .set({ name })
      .where(and(eq(users.id, userId), sql`${users.name} is distinct from ${name}`))
      .returning({ id: users.id });
    if (changed.length > 0) await recordChange(tx, app.now(), { type: 'user.renamed', userId, data: { name } });
  });
}

/** Records that a user has completed onboarding. Idempotent. */
export async function completeOnboarding(app: App, principal: Approved, client: Client): Promise<void> {
  const { user } = principal;

  await app.db.transaction(async (tx) => {
    const updated = await tx
      .update(users)
      .set({ onboardedAt: app.now() })
      .where(and(eq(users.id, user.id), isNull(users.onboardedAt)))
      .returning({ id: users.id });
    if (updated.length === 0) return;
    await recordAudit(tx, app.now(), { action: 'onboarded', actorId: user.id, userId: user.id, client });
  });
}
