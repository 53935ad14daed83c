import type { AuditAction } from './record.ts';

/** Actions that every member of the organisation sees. */
export const visibleToMembers: AuditAction[] = [
  'organisation-approved',
  'organisation-declined',
  'decision-undone',
  'organisation-suspended',
  'organisation-restored',
  'organisation-renamed',
  'ownership-transferred',
];

/** Actions that the organisation's owners and admins see, whatever the actor. */
export const visibleToAdministrators: AuditAction[] = [
  'billing-contact-changed',
  'member-joined',
  'member-removed',
  'organisation-left',
  'role-changed',
  'invitation-made',
  'invitation-withdrawn',
  'api-key-created',
  'api-key-revoked',
  'plan-cancelled',
  'plan-resumed',
  'subscription-started',
  'subscription-changed',
  'subscription-ended',
  'payment-failed',
];

/** Actions that are recorded, but not shown to users: opening a page of the provider changes nothing. */
export const hiddenActions: AuditAction[] = ['plan-checkout', 'plan-portal'];

/** Actions that only operators, admin commands and rules carry out. Their actor is not named to users. */
export const operatorActions: AuditAction[] = [
  'organisation-approved',
  'organisation-declined',
  'decision-undone',
  'organisation-suspended',
  'organisation-restored',
  'person-suspended',
  'person-restored',
  'operator-granted',
  'operator-revoked',
  'password-link-made',
  'sessions-ended',
  'data-exported',
  'backup-restored',
  'event-applied-again',
  'subscription-synced',
  'billing-reconciled',
  'customer-started-anew',
];
