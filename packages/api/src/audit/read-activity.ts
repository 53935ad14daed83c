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

/** What happens to an organisation as a whole, and so to everybody in it. */
const ofOrganisations: AuditAction[] = [
  'organisation-approved',
  'organisation-declined',
  'organisation-suspended',
  'organisation-restored',
];

/**
 * The newest entries about a person, something they did or the gates of their
 * organisations, newest first, as they may see it: from where somebody else did it is
 * not theirs to know.
 */
export async function readActivity(db: Executor, userId: string, most = 20) {
  const entries = await newest(db, userId, most);
  return entries.map((entry) => ({ ...shown(entry), client: isOwn(entry, userId) ? entry.client : null }));
}

/** The same as operators see it. */
export async function readHistory(db: Executor, userId: string, most: number) {
  return (await newest(db, userId, most)).map(shown);
}

/** Whether somebody did it themselves, as far as anybody knows. */
export function isOwn({ actorId, userId }: Pick<Entry, 'actorId' | 'userId'>, whoseId: string): boolean {
  return (actorId ?? userId) === whoseId;
}

type Entry = typeof auditEvents.$inferSelect;

function newest(db: Executor, userId: string, most: number): Promise<Entry[]> {
  const belongsTo = db
    .select({ id: memberships.organisationId })
    .from(memberships)
    .where(eq(memberships.userId, userId));
  const ofTheirs = and(inArray(auditEvents.organisationId, belongsTo), inArray(auditEvents.action, ofOrganisations));
  return db
    .select()
    .from(auditEvents)
    .where(or(eq(auditEvents.userId, userId), eq(auditEvents.actorId, userId), ofTheirs))
    .orderBy(desc(auditEvents.at), desc(auditEvents.id))
    .limit(most);
}

function shown({ id, at, action, details, client }: Entry) {
  return { id, at: at.toISOString(), action, text: sentenceOf(action, details), client };
}

export function sentenceOf(action: string, { from, to }: Record<string, string> = {}): string {
  const sentence = sentences[action as AuditAction] ?? action;
  return from !== undefined && to !== undefined ? `${sentence}: ${from} to ${to}` : sentence;
}
