import { asc, desc, eq, or } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { isOwn } from '../../audit/read-activity.ts';
import type { Approved } from '../../auth/principal.ts';
import { listSessions } from '../../auth/sessions/session.ts';
import type { Executor } from '../../platform/db/client.ts';
import {
  addressChanges,
  identities,
  knownBrowsers,
  signUps,
  users,
  verificationLinks,
} from '../../platform/db/schema/accounts.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { passkeys, totpSecrets } from '../../platform/db/schema/factors.ts';
import { apiKeys } from '../../platform/db/schema/keys.ts';
import { invitations, memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';

/**
 * Returns everything that is stored about the signed-in user, without hashes and tokens.
 *
 * @throws AppError UNAUTHENTICATED if the account was deleted meanwhile.
 */
export async function exportData(app: App, principal: Approved) {
  const data = await exportUser(app, principal.user.id);
  if (data === null) throw new AppError('UNAUTHENTICATED', message('sign_in_first'));
  return data;
}

/** Returns what `exportData` does for any user, whatever the account status. Null if there is no such user. */
export async function exportUser(app: App, userId: string) {
  const [own] = await app.db.select().from(users).where(eq(users.id, userId));
  if (own === undefined) return null;

  const known = await app.db.select().from(identities).where(eq(identities.userId, userId));
  return {
    user: {
      id: own.id,
      email: own.email,
      name: own.name,
      email_verified_at: own.emailVerifiedAt,
      created_at: own.createdAt,
      suspended_at: own.suspendedAt,
      operator: own.operator,
      has_password: own.passwordHash !== null,
      identities: known.map(({ issuer, subject, email, linkedAt, unlinkedAt }) => ({
        issuer,
        subject,
        email,
        linked_at: linkedAt,
        unlinked_at: unlinkedAt,
      })),
    },
    passkeys: await passkeysOf(app.db, userId),
    authenticator_app: await authenticatorOf(app.db, userId),
    api_keys: await keysBy(app.db, userId),
    organisations: await organisationsOf(app.db, userId),
    open_invitations: await invitationsBy(app.db, userId),
    sign_ups: await signUpsOf(app.db, userId),
    verification_mails: await mailsTo(app.db, userId),
    requested_addresses: await addressesWantedBy(app.db, userId),
    sessions: (await listSessions(app, userId)).map(({ createdAt, expiresAt, userAgent, client }) => ({
      created_at: createdAt,
      expires_at: expiresAt,
      user_agent: userAgent,
      client,
    })),
    known_browsers: await browsersOf(app.db, userId),
    events: await eventsOf(app.db, userId),
  };
}

function organisationsOf(db: Executor, userId: string) {
  return db
    .select({
      id: organisations.id,
      slug: organisations.slug,
      name: organisations.name,
      approval: organisations.approval,
      role: memberships.role,
      since: memberships.createdAt,
      last_seen_at: memberships.lastSeenAt,
    })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(eq(memberships.userId, userId));
}

function passkeysOf(db: Executor, userId: string) {
  return db
    .select({ name: passkeys.name, created_at: passkeys.createdAt, last_used_at: passkeys.lastUsedAt })
    .from(passkeys)
    .where(eq(passkeys.userId, userId))
    .orderBy(asc(passkeys.createdAt));
}

/** Since when there is an app, which is confirmed or being set up. */
function authenticatorOf(db: Executor, userId: string) {
  return db
    .select({ created_at: totpSecrets.createdAt, confirmed_at: totpSecrets.confirmedAt })
    .from(totpSecrets)
    .where(eq(totpSecrets.userId, userId))
    .orderBy(asc(totpSecrets.createdAt));
}

function keysBy(db: Executor, userId: string) {
  return db
    .select({
      organisation_id: apiKeys.organisationId,
      name: apiKeys.name,
      scope: apiKeys.scope,
      created_at: apiKeys.createdAt,
      expires_at: apiKeys.expiresAt,
      last_used_at: apiKeys.lastUsedAt,
      revoked_at: apiKeys.revokedAt,
    })
    .from(apiKeys)
    .where(eq(apiKeys.createdBy, userId))
    .orderBy(asc(apiKeys.createdAt));
}

/** The browsers that the user signed in from, as they named themselves at the first sign-in. */
function browsersOf(db: Executor, userId: string) {
  return db
    .select({
      first_sign_in_at: knownBrowsers.firstSignedInAt,
      last_sign_in_at: knownBrowsers.signedInAt,
      user_agent: knownBrowsers.userAgent,
      client: knownBrowsers.client,
    })
    .from(knownBrowsers)
    .where(eq(knownBrowsers.userId, userId))
    .orderBy(desc(knownBrowsers.signedInAt));
}

function invitationsBy(db: Executor, userId: string) {
  return db
    .select({
      organisation_id: invitations.organisationId,
      role: invitations.role,
      note: invitations.note,
      created_at: invitations.createdAt,
      expires_at: invitations.expiresAt,
    })
    .from(invitations)
    .where(eq(invitations.createdBy, userId))
    .orderBy(asc(invitations.createdAt), asc(invitations.id));
}

function signUpsOf(db: Executor, userId: string) {
  return db
    .select({ organisation_name: signUps.organisationName, created_at: signUps.createdAt, used_at: signUps.usedAt })
    .from(signUps)
    .where(eq(signUps.userId, userId))
    .orderBy(asc(signUps.createdAt));
}

function mailsTo(db: Executor, userId: string) {
  return db
    .select({
      purpose: verificationLinks.purpose,
      email: verificationLinks.email,
      sent_at: verificationLinks.sentAt,
      expires_at: verificationLinks.expiresAt,
      used_at: verificationLinks.usedAt,
    })
    .from(verificationLinks)
    .where(eq(verificationLinks.userId, userId))
    .orderBy(asc(verificationLinks.createdAt));
}

function addressesWantedBy(db: Executor, userId: string) {
  return db
    .select({ email: addressChanges.email, expires_at: addressChanges.expiresAt })
    .from(addressChanges)
    .where(eq(addressChanges.userId, userId));
}

async function eventsOf(db: Executor, userId: string) {
  const events = await db
    .select({
      at: auditEvents.at,
      action: auditEvents.action,
      actorId: auditEvents.actorId,
      keyId: auditEvents.keyId,
      userId: auditEvents.userId,
      client: auditEvents.client,
      userAgent: auditEvents.userAgent,
    })
    .from(auditEvents)
    .where(or(eq(auditEvents.userId, userId), eq(auditEvents.actorId, userId)))
    .orderBy(asc(auditEvents.at), asc(auditEvents.id));
  // The client of another actor, such as an operator, is not the user's data.
  return events.map(({ at, action, client, userAgent, ...entry }) =>
    isOwn(entry, userId)
      ? { at, action, client, user_agent: userAgent }
      : { at, action, client: null, user_agent: null },
  );
}
