import { and, desc, eq, inArray, or } from 'drizzle-orm';
import type { Executor } from '../db/client.ts';
import { auditEvents } from '../db/schema/audit.ts';
import { memberships } from '../db/schema/members.ts';
import type { AuditAction } from './record.ts';

const sentences: Record<AuditAction, string> = {
  'signed-up': 'Signed up',
  'signed-up-again': 'Somebody signed up with your address again',
  'address-verified': 'Address confirmed',
  'address-changed': 'Address changed',
  'signed-in': 'Signed in',
  'sign-in-failed': 'Sign-in with a wrong password',
  'signed-out': 'Signed out',
  'session-ended': 'Session ended',
  'identity-linked': 'Identity provider linked',
  'identity-unlinked': 'Identity provider unlinked',
  'password-set': 'Password set',
  'account-deleted': 'Account deleted',
  'organisation-deleted': 'Organisation deleted',
  'organisation-left': 'Organisation left',
  'invitation-made': 'Invitation made',
  'invitation-withdrawn': 'Invitation withdrawn',
  'member-joined': 'Joined an organisation',
  'member-removed': 'Membership ended by an administrator',
  'role-changed': 'Role changed',
  onboarded: 'Setting up finished',
  'organisation-approved': 'Organisation approved',
  'organisation-declined': 'Organisation declined',
  'organisation-suspended': 'Organisation suspended',
  'organisation-restored': 'Organisation restored',
  'person-suspended': 'Account suspended',
  'person-restored': 'Account restored',
  'operator-granted': 'Made an operator',
  'operator-revoked': 'No operator any more',
  'password-link-made': 'An operator made a password link',
  'plan-checkout': 'Checkout opened',
  'plan-portal': 'Payment portal opened',
  'plan-cancelled': 'Cancellation of the plan scheduled',
  'plan-resumed': 'Cancellation of the plan taken back',
  'event-applied-again': 'A payment event applied again',
  'subscription-synced': 'Subscription synced by an operator',
  'billing-reconciled': 'All subscriptions compared with the provider’s',
  'customer-started-anew': 'Customer at the payment provider given up',
};

/** Actions on a whole organisation, which concern all its members. */
const organisationActions: AuditAction[] = [
  'organisation-approved',
  'organisation-declined',
  'organisation-suspended',
  'organisation-restored',
];

/**
 * Returns the newest entries about a user, newest first, as the user may see them: their own
 * actions, actions on their account, and decisions about their organisations. The client
 * address of another actor is left out.
 */
export async function readActivity(db: Executor, userId: string, limit = 20) {
  const entries = await newestEntries(db, userId, limit);
  return entries.map((entry) => ({ ...describe(entry), client: isOwn(entry, userId) ? entry.client : null }));
}

/** Returns the same entries as operators see them, with all client addresses. */
export async function readHistory(db: Executor, userId: string, limit: number) {
  return (await newestEntries(db, userId, limit)).map(describe);
}

/** Whether a user is the actor of an entry. An entry without an actor counts as the action of its user. */
export function isOwn(entry: Pick<Entry, 'actorId' | 'userId'>, userId: string): boolean {
  return (entry.actorId ?? entry.userId) === userId;
}

type Entry = typeof auditEvents.$inferSelect;

function newestEntries(db: Executor, userId: string, limit: number): Promise<Entry[]> {
  const organisationIds = db
    .select({ id: memberships.organisationId })
    .from(memberships)
    .where(eq(memberships.userId, userId));
  const isAboutOrganisation = and(
    inArray(auditEvents.organisationId, organisationIds),
    inArray(auditEvents.action, organisationActions),
  );
  return db
    .select()
    .from(auditEvents)
    .where(or(eq(auditEvents.userId, userId), eq(auditEvents.actorId, userId), isAboutOrganisation))
    .orderBy(desc(auditEvents.at), desc(auditEvents.id))
    .limit(limit);
}

function describe({ id, at, action, details, client }: Entry) {
  return { id, at: at.toISOString(), action, text: sentenceOf(action, details), client };
}

/** Returns the sentence for an action, with the old and new value where its details have them. */
export function sentenceOf(action: string, { from, to }: Record<string, string> = {}): string {
  const sentence = sentences[action as AuditAction] ?? action;
  return from !== undefined && to !== undefined ? `${sentence}: ${from} to ${to}` : sentence;
}
