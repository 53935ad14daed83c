import type { users } from '../db/schema/accounts.ts';
import type { organisations } from '../db/schema/organisations.ts';

type OrganisationGate = Pick<typeof organisations.$inferSelect, 'approval' | 'suspendedAt'>;
type UserGate = Pick<typeof users.$inferSelect, 'emailVerifiedAt' | 'suspendedAt' | 'invitedOnly'>;

/** Where a person stands: may go on, has to wait, or is closed and gets no session anywhere. */
export type Gate = 'open' | 'awaiting_approval';
export type AccountStatus = Gate | 'unverified' | 'closed';

/**
 * The one predicate of the gates, asked on every way in: password, identity provider,
 * invitation, one-time link and every request of an existing session. Approval belongs
 * to the organisation. A user without one awaits it who came by an invitation and joined
 * nothing; one who lost the last organisation was approved before, and does not.
 */
export function accountStatusOf(user: UserGate, organisation: OrganisationGate | null): AccountStatus {
  if (user.suspendedAt !== null) return 'closed';
  const approval = organisation !== null ? approvalOf(organisation) : user.invitedOnly ? 'pending' : 'approved';
  if (approval === 'closed') return 'closed';
  if (user.emailVerifiedAt === null) return 'unverified';
  return approval === 'approved' ? 'open' : 'awaiting_approval';
}

/** The part of it that is the organisation's own: may it be acted for, does it wait, or is it closed. */
export function approvalOf({ approval, suspendedAt }: OrganisationGate): 'approved' | 'pending' | 'closed' {
  if (suspendedAt !== null || approval === 'declined') return 'closed';
  return approval;
}
