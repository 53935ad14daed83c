import { and, eq, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { readStarted } from '../../organisations/started.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { isFresh, maySetPassword } from '../password/fresh-sign-in.ts';
import type { UserPrincipal } from '../principal.ts';
import { listSessions } from '../sessions/session.ts';

/** Returns what /account shows to a user: the user, the ways to sign in, and the sessions. */
export async function readProfile(app: App, principal: UserPrincipal) {
  const { user, sessionId } = principal;
  const [own] = await app.db
    .select({ passwordHash: users.passwordHash, idpSubject: identities.subject, createdAt: users.createdAt })
    .from(users)
    .leftJoin(identities, and(eq(identities.userId, users.id), isNull(identities.unlinkedAt)))
    .where(eq(users.id, user.id));
  const openSessions = await listSessions(app, user.id);

  return {
    user: {
      email: user.email,
      name: user.name,
      created_at: own?.createdAt.toISOString() ?? null,
      has_password: own?.passwordHash != null,
      /** Whether a new password may be set without the current one. */
      may_set_password: await maySetPassword(app, app.db, principal),
      /** Whether the session is fresh, so that no form asks for the password. */
      fresh_sign_in: isFresh(app, principal),
      idp_linked: own?.idpSubject != null,
    },
    /** What ends with a new password, the API keys only if the user says so. */
    started: await readStarted(app.db, app.now(), { userId: user.id, of: 'everything' }),
    sessions: openSessions.map((session) => ({
      id: session.id,
      current: session.id === sessionId,
      created_at: session.createdAt.toISOString(),
      user_agent: session.userAgent,
      client: session.client,
    })),
  };
}
