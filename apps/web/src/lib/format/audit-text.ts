type Entry = Awaited<ReturnType<App.Locals['api']['accounts']['activity']>>[number];

const sentences: Record<Entry['action'], string> = {
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
  'organisation-created': 'Organisation created',
  'organisation-renamed': 'Organisation renamed',
  'billing-contact-changed': 'Billing address changed',
  'ownership-transferred': 'Ownership transferred',
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

/** "Signed in", "Role changed: member to admin". An action of a newer version is shown by its code. */
export function auditText(action: string, change: Entry['change'] = null): string {
  const sentence = Object.hasOwn(sentences, action) ? sentences[action as Entry['action']] : action;
  return change === null ? sentence : `${sentence}: ${change.from} to ${change.to}`;
}
