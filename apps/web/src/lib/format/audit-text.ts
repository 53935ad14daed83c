import type { RouterOutputs } from '#lib/router.ts';

export type Action = RouterOutputs['accounts']['activity'][number]['action'];

/** What happened, without naming anyone. */
const texts: Record<Action, string> = {
  'signed-up': 'Signed up',
  'signed-up-again': 'Someone signed up with your address again',
  'address-verified': 'Confirmed the e-mail address',
  'address-changed': 'Changed the e-mail address',
  'signed-in': 'Signed in',
  'sign-in-failed': 'Sign-in with a wrong password',
  'password-check-failed': 'Wrong password entered while signed in',
  'signed-out': 'Signed out',
  'session-ended': 'Signed out another session',
  'identity-linked': 'Connected the identity provider',
  'identity-unlinked': 'Disconnected the identity provider',
  'password-set': 'Set a new password',
  'account-deleted': 'Account deleted',
  'organisation-created': 'Organisation created',
  'organisation-renamed': 'Organisation renamed',
  'billing-contact-changed': 'Billing contact changed',
  'ownership-transferred': 'Ownership transferred',
  'organisation-deleted': 'Organisation deleted',
  'organisation-left': 'Left the organisation',
  'invitation-made': 'Invitation created',
  'invitation-withdrawn': 'Invitation revoked',
  'member-joined': 'Joined the organisation',
  'member-removed': 'Removed by an admin',
  'role-changed': 'Role changed',
  onboarded: 'Finished setup',
  'organisation-approved': 'Organisation approved',
  'organisation-declined': 'Organisation declined',
  'decision-undone': 'Decision about the organisation undone',
  'organisation-suspended': 'Organisation suspended',
  'organisation-restored': 'Organisation restored',
  'person-suspended': 'Account suspended',
  'person-restored': 'Account restored',
  'operator-granted': 'Became an operator',
  'operator-revoked': 'No longer an operator',
  'password-link-made': 'An operator created a password link',
  'api-key-created': 'API key created',
  'api-key-revoked': 'API key revoked',
  'plan-checkout': 'Checkout opened',
  'plan-portal': 'Payment portal opened',
  'plan-cancelled': 'Plan cancelled',
  'plan-resumed': 'Kept the plan',
  'subscription-started': 'Plan started',
  'subscription-changed': 'Plan changed',
  'subscription-ended': 'Plan ended',
  'payment-failed': 'Payment failed',
  'event-applied-again': 'Applied a payment event again',
  'subscription-synced': 'Synced a subscription',
  'billing-reconciled': 'Compared all subscriptions with the payment provider',
  'customer-started-anew': 'Started a new customer at the payment provider',
};

/** "Signed in". An action of a newer version is shown by its code. */
export function auditText(action: string): string {
  return Object.hasOwn(texts, action) ? texts[action as Action] : action;
}
