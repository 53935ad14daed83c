import { type SQL, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { AppError } from '../platform/errors.ts';
import { message } from '../platform/messages.ts';
import { domainOf } from '../platform/security/address.ts';

type OrganisationStatusColumns = Pick<typeof organisations.$inferSelect, 'approval' | 'suspendedAt'>;
type UserStatusColumns = Pick<typeof users.$inferSelect, 'emailVerifiedAt' | 'suspendedAt' | 'invitedOnly'>;

/** Whether an account may be used. A closed one gets no session. */
export type AccountStatus = 'active' | 'awaiting_approval' | 'unverified' | 'closed';

/**
 * Computes whether an account may be used. Every way to sign in and every request of a session
 * applies this one rule: password, identity provider, invitation and one-time link. Approval belongs
 * to the organisation. A user without an organisation awaits approval if they signed up by an
 * invitation and never joined one. A user who lost the last organisation was approved before and
 * stays active.
 */
export function accountStatusOf(
  user: UserStatusColumns,
  organisation: OrganisationStatusColumns | null,
): AccountStatus {
  if (user.suspendedAt !== null) return 'closed';
  const approval = organisation !== null ? approvalOf(organisation) : user.invitedOnly ? 'pending' : 'approved';
  if (isClosed(approval)) return 'closed';
  if (user.emailVerifiedAt === null) return 'unverified';
  return approval === 'approved' ? 'active' : 'awaiting_approval';
}

/** Whether an organisation may be used: only an approved one may. */
export type Approval = 'approved' | 'pending' | 'declined' | 'suspended';

/** Returns an organisation's part of the account status. */
export function approvalOf({ approval, suspendedAt }: OrganisationStatusColumns): Approval {
  return suspendedAt === null ? approval : 'suspended';
}

function isClosed(approval: Approval): boolean {
  return approval === 'declined' || approval === 'suspended';
}

/**
 * Requires that an organisation is approved. `field` names the input that the error is about.
 *
 * @throws AppError FORBIDDEN if the organisation is closed, AWAITING_APPROVAL if it awaits approval.
 */
export function requireApprovedOrganisation(approval: Approval, field?: string): void {
  if (approval === 'approved') return;
  const closed = isClosed(approval);
  const sentence = closed ? message('organisation_closed') : message('organisation_awaits_approval');
  const detail = field === undefined ? {} : { fields: { [field]: sentence } };
  throw new AppError(closed ? 'FORBIDDEN' : 'AWAITING_APPROVAL', sentence, detail);
}

/** Whether APPROVED_DOMAINS lists an address's domain, so that proving the address opens the approval gate. */
export function isApprovedDomain({ config }: Pick<App, 'config'>, email: string): boolean {
  return config.approvedDomains.includes('*') || config.approvedDomains.includes(domainOf(email));
}

/** The columns that name an organisation. */
export const nameColumns = { id: organisations.id, slug: organisations.slug, name: organisations.name };

/** The columns that name an organisation and decide its status. */
export const basicColumns = {
  ...nameColumns,
  approval: organisations.approval,
  suspendedAt: organisations.suspendedAt,
};

/**
 * The condition for organisations that other services may know: those whose e-mail gate opened, and those that an API key
 * or an import made. The name and address of a sign-up that was not verified are what a stranger typed.
 */
export function isVerified(): SQL {
  return sql`(${organisations.approval} <> 'pending' or ${organisations.provisioned} or exists (
    select from ${memberships} join ${users} on ${users.id} = ${memberships.userId}
    where ${memberships.organisationId} = ${organisations.id} and ${users.emailVerifiedAt} is not null))`;
}
