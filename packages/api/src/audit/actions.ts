type Properties = {
  /**
   * Who sees such an entry: `operators` alone; also the `user` who did it or whom it is about; also the organisation's
   * owners and admins (`administrators`), or all of its `members`.
   */
  shownTo: 'operators' | 'user' | 'administrators' | 'members';
  /** Only operators, admin commands and rules carry it out. Its actor is not named to users. */
  isOperators?: true;
};

/**
 * Every kind of audit entry. The names are stored in the database. Opening a page of the provider changes nothing, so
 * only operators see it.
 */
export const auditActions = {
  'signed-up': { shownTo: 'user' },
  'signed-up-again': { shownTo: 'user' },
  'address-verified': { shownTo: 'user' },
  'address-changed': { shownTo: 'user' },
  'signed-in': { shownTo: 'user' },
  'sign-in-failed': { shownTo: 'user' },
  'password-check-failed': { shownTo: 'user' },
  'signed-in-again': { shownTo: 'user' },
  'signed-out': { shownTo: 'user' },
  'session-ended': { shownTo: 'user' },
  'sessions-ended': { shownTo: 'user', isOperators: true },
  'user-imported': { shownTo: 'user', isOperators: true },
  'users-exported': { shownTo: 'operators', isOperators: true },
  'data-exported': { shownTo: 'user', isOperators: true },
  'backup-restored': { shownTo: 'user', isOperators: true },
  'factor-added': { shownTo: 'user' },
  'factor-removed': { shownTo: 'user' },
  'second-factor-required': { shownTo: 'members' },
  'second-factor-not-required': { shownTo: 'members' },
  'second-factor-reset': { shownTo: 'user', isOperators: true },
  'passkey-refused': { shownTo: 'user' },
  'recovery-codes-made': { shownTo: 'user' },
  'recovery-code-used': { shownTo: 'user' },
  'second-factor-failed': { shownTo: 'user' },
  'identity-linked': { shownTo: 'user' },
  'identity-unlinked': { shownTo: 'user' },
  'password-set': { shownTo: 'user' },
  onboarded: { shownTo: 'user' },
  'organisation-approved': { shownTo: 'members', isOperators: true },
  'organisation-declined': { shownTo: 'members', isOperators: true },
  'decision-undone': { shownTo: 'members', isOperators: true },
  'organisation-suspended': { shownTo: 'members', isOperators: true },
  'organisation-restored': { shownTo: 'members', isOperators: true },
  'account-deleted': { shownTo: 'user' },
  'organisation-imported': { shownTo: 'administrators', isOperators: true },
  'organisation-created': { shownTo: 'user' },
  'organisation-renamed': { shownTo: 'members' },
  'billing-contact-changed': { shownTo: 'administrators' },
  'ownership-transferred': { shownTo: 'members' },
  'organisation-deleted': { shownTo: 'user' },
  'organisation-left': { shownTo: 'administrators' },
  'invitation-made': { shownTo: 'administrators' },
  'invitation-withdrawn': { shownTo: 'administrators' },
  'member-joined': { shownTo: 'administrators' },
  'member-added': { shownTo: 'administrators', isOperators: true },
  'member-removed': { shownTo: 'administrators' },
  'role-changed': { shownTo: 'administrators' },
  'person-created': { shownTo: 'user', isOperators: true },
  'person-suspended': { shownTo: 'user', isOperators: true },
  'person-restored': { shownTo: 'user', isOperators: true },
  'operator-granted': { shownTo: 'user', isOperators: true },
  'operator-revoked': { shownTo: 'user', isOperators: true },
  'password-link-made': { shownTo: 'user', isOperators: true },
  'api-key-created': { shownTo: 'administrators' },
  'api-key-revoked': { shownTo: 'administrators' },
  'usage-corrected': { shownTo: 'administrators', isOperators: true },
  'override-set': { shownTo: 'administrators', isOperators: true },
  'override-ended': { shownTo: 'administrators', isOperators: true },
  'plan-checkout': { shownTo: 'operators' },
  'plan-currency': { shownTo: 'administrators' },
  'plan-portal': { shownTo: 'operators' },
  'plan-cancelled': { shownTo: 'administrators' },
  'plan-resumed': { shownTo: 'administrators' },
  'subscription-started': { shownTo: 'administrators' },
  'subscription-changed': { shownTo: 'administrators' },
  'subscription-ended': { shownTo: 'administrators' },
  'payment-failed': { shownTo: 'administrators' },
  'subscription-synced': { shownTo: 'user', isOperators: true },
  'billing-reconciled': { shownTo: 'user', isOperators: true },
  'customer-linked': { shownTo: 'user', isOperators: true },
  'customer-started-anew': { shownTo: 'user', isOperators: true },
} as const satisfies Record<string, Properties>;

export type AuditAction = keyof typeof auditActions;

/** The actions of which a property has a value. */
export function actionsWith<Name extends keyof Properties>(name: Name, value: Properties[Name]): AuditAction[] {
  const all = Object.entries<Properties>(auditActions) as [AuditAction, Properties][];
  return all.flatMap(([action, properties]) => (properties[name] === value ? [action] : []));
}
