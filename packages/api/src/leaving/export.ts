import { asc, eq, or } from 'drizzle-orm';
import type { App } from '../app.ts';
import { isOwn } from '../audit/read-activity.ts';
import { identities, users } from '../db/schema/accounts.ts';
import { auditEvents } from '../db/schema/audit.ts';
import { invitations, memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import type { Approved } from '../sessions/authorisation.ts';
import { listKnownBrowsers } from '../sessions/known-browser.ts';
import { listSessions } from '../sessions/session.ts';

/**
 * Returns everything that is stored about the user, without hashes and tokens.
 */
export async function exportData(app: App, principal: Approved) {
  const { user } = principal;

  const [own] = await app.db.select().from(users).where(eq(users.id, user.id));
  const known = await app.db.select().from(identities).where(eq(identities.userId, user.id));
  const rows = await app.db
    .select({
      id: organisations.id,
      slug: organisations.slug,
      name: organisations.name,
      role: memberships.role,
      since: memberships.createdAt,
      last_seen_at: memberships.lastSeenAt,
    })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(eq(memberships.userId, user.id));
  const invited = await app.db
    .select({
      organisation_id: invitations.organisationId,
      role: invitations.role,
      note: invitations.note,
      created_at: invitations.createdAt,
      expires_at: invitations.expiresAt,
    })
    .from(invitations)
    .where(eq(invitations.madeBy, user.id))
    .orderBy(asc(invitations.createdAt), asc(invitations.id));
  const events = await app.db
    .select({
      at: auditEvents.at,
      action: auditEvents.action,
      actorId: auditEvents.actorId,
      userId: auditEvents.userId,
      client: auditEvents.client,
      userAgent: auditEvents.userAgent,
    })
    .from(auditEvents)
    .where(or(eq(auditEvents.userId, user.id), eq(auditEvents.actorId, user.id)))
    .orderBy(asc(auditEvents.at), asc(auditEvents.id));

  return {
    user: {
      id: user.id,
      email: user.email,
      name: user.name,
      email_verified_at: own?.emailVerifiedAt ?? null,
      created_at: own?.createdAt ?? null,
      has_password: own?.passwordHash != null,
      identities: known.map(({ issuer, subject, linkedAt, unlinkedAt }) => ({
        issuer,
        subject,
        linked_at: linkedAt,
        unlinked_at: unlinkedAt,
      })),
    },
    organisations: rows,
    open_invitations: invited,
    sessions: (await listSessions(app, user.id)).map(({ createdAt, expiresAt, userAgent, client }) => ({
      created_at: createdAt,
      expires_at: expiresAt,
      user_agent: userAgent,
      client,
    })),
    known_browsers: (await listKnownBrowsers(app, user.id)).map(({ signedInAt }) => ({ last_sign_in_at: signedInAt })),
    // The client of another actor, such as an operator, is not the user's data.
    events: events.map(({ at, action, client, userAgent, ...entry }) =>
      isOwn(entry, user.id)
        ? { at, action, client, user_agent: userAgent }
        : { at, action, client: null, user_agent: null },
    ),
  };
}
