import { eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import { users } from '../db/schema.ts';
import { type Principal, requireApproved } from '../sessions/principal.ts';
import { listSessions } from '../sessions/session.ts';

/** What /account shows of a person: who they are, how they get in, and where they are signed in. */
export async function readProfile(app: App, principal: Principal | null) {
  const { user, sessionId } = requireApproved(principal);
  const [own] = await app.db
    .select({ passwordHash: users.passwordHash, idpSubject: users.idpSubject, createdAt: users.createdAt })
    .from(users)
    .where(eq(users.id, user.id));
  const living = await listSessions(app, user.id);

  return {
    user: {
      email: user.email,
      name: user.name,
      created_at: own?.createdAt.toISOString() ?? null,
      has_password: own?.passwordHash != null,
      idp_linked: own?.idpSubject != null,
    },
    sessions: living.map((session) => ({
      id: session.id,
      current: session.id === sessionId,
      created_at: session.createdAt.toISOString(),
      user_agent: session.userAgent,
      client: session.client,
    })),
  };
}
