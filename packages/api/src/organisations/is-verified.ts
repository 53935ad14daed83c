import { type SQL, sql } from 'drizzle-orm';
import { users } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';

/**
 * The condition for organisations that other services may know: those whose e-mail gate opened.
 * The name and address of a sign-up that was not verified are what a stranger typed.
 */
export function isVerified(): SQL {
  return sql`(${organisations.approval} <> 'pending' or exists (
    select from ${memberships} join ${users} on ${users.id} = ${memberships.userId}
    where ${memberships.organisationId} = ${organisations.id} and ${users.emailVerifiedAt} is not null))`;
}
