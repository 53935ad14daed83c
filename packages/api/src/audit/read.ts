import { desc, eq, or } from 'drizzle-orm';
import type { Executor } from '../db/client.ts';
import { auditEvents } from '../db/schema.ts';
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
};

/** The newest entries about a person or something they did, newest first. */
export async function readActivity(db: Executor, userId: string, most = 20) {
  const entries = await db
    .select()
    .from(auditEvents)
    .where(or(eq(auditEvents.userId, userId), eq(auditEvents.actorId, userId)))
    .orderBy(desc(auditEvents.at), desc(auditEvents.id))
    .limit(most);

  return entries.map((entry) => ({
    id: entry.id,
    at: entry.at.toISOString(),
    action: entry.action,
    text: sentenceOf(entry.action),
    client: entry.client,
  }));
}

export function sentenceOf(action: string): string {
  return sentences[action as AuditAction] ?? action;
}
