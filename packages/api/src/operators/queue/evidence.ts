import { sql } from 'drizzle-orm';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { domainOf } from '../../platform/security/address.ts';

/** Public providers have millions of addresses: counting ends here, so that a row costs a bounded time. */
const maxOfOneDomain = 100;

/** A fact about an owner that helps to decide. */
export type Evidence =
  | { code: 'joined_nothing' | 'identity_provider' | 'same_browser' | 'another_browser' }
  /** How many approved organisations the owner has beside this one. */
  | { code: 'other_organisations'; count: number }
  | { code: 'mail_opened'; after_seconds: number }
  /** How many other accounts have an address of the same domain. From `maxOfOneDomain` on there may be more. */
  | { code: 'same_domain'; count: number; more: boolean; domain: string };

/** The columns of a query over users and their identities that evidence is computed from. */
export const evidenceColumns = {
  verifiedAt: users.emailVerifiedAt,
  idpSubject: identities.subject,
  sameBrowser: sql<string | null>`(
    select ${auditEvents.details}->>'same_browser' from ${auditEvents}
    where ${auditEvents.userId} = ${users.id} and ${auditEvents.action} = 'address-verified'
    order by ${auditEvents.at} desc, ${auditEvents.id} desc limit 1)`,
  otherOrganisations: sql<number>`(
    select count(*)::int from memberships owned join organisations other on other.id = owned.organisation_id
    where owned.user_id = ${users.id} and owned.role = 'owner'
      and other.approval = 'approved' and other.suspended_at is null)`,
  sameDomain: sql<number>`(
    select count(*)::int from (
      select 1 from users others
      where split_part(others.email, '@', 2) = split_part(${users.email}, '@', 2) and others.id <> ${users.id}
      limit ${sql.raw(String(maxOfOneDomain))}) as counted)`,
};

type Facts = {
  email: string;
  requestedAt: Date;
  verifiedAt: Date | null;
  idpSubject: string | null;
  sameBrowser: string | null;
  otherOrganisations: number;
  sameDomain: number;
};

/** Returns what is known about an owner, in the order in which pages show it. */
export function evidenceFrom(facts: Facts): Evidence[] {
  const { email, requestedAt, verifiedAt, idpSubject, sameBrowser, otherOrganisations, sameDomain } = facts;
  const found: Evidence[] = [];
  if (otherOrganisations > 0) found.push({ code: 'other_organisations', count: otherOrganisations });
  if (idpSubject !== null) found.push({ code: 'identity_provider' });
  // A second organisation is requested long after the address was confirmed: that tells nothing about the request.
  const isFirst = verifiedAt !== null && verifiedAt >= requestedAt;
  if (isFirst && sameBrowser !== null) {
    const seconds = Math.round((verifiedAt.getTime() - requestedAt.getTime()) / 1000);
    found.push({ code: 'mail_opened', after_seconds: seconds });
  }
  if (isFirst && sameBrowser === 'true') found.push({ code: 'same_browser' });
  if (isFirst && sameBrowser === 'false') found.push({ code: 'another_browser' });
  if (sameDomain > 0) {
    const more = sameDomain >= maxOfOneDomain;
    found.push({ code: 'same_domain', count: sameDomain, more, domain: domainOf(email) });
  }
  return found;
}
