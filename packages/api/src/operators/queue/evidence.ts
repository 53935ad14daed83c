import { sql } from 'drizzle-orm';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { domainOf } from '../../platform/security/address.ts';

/** Public providers have millions of addresses: counting ends here, so that a row costs a bounded time. */
const maxOfOneDomain = 100;

/** A fact about an owner that helps to decide. */
export type Evidence =
  | { code: 'joined_nothing' | 'identity_provider' | 'same_browser' | 'another_browser' }
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
  sameDomain: number;
};

/** Returns what is known about an owner, in the order in which pages show it. */
export function evidenceFrom(facts: Facts): Evidence[] {
  const { email, requestedAt, verifiedAt, idpSubject, sameBrowser, sameDomain } = facts;
  const found: Evidence[] = [];
  if (idpSubject !== null) found.push({ code: 'identity_provider' });
  if (sameBrowser !== null && verifiedAt !== null) {
    const seconds = Math.round((verifiedAt.getTime() - requestedAt.getTime()) / 1000);
    found.push({ code: 'mail_opened', after_seconds: seconds });
  }
  if (sameBrowser === 'true') found.push({ code: 'same_browser' });
  if (sameBrowser === 'false') found.push({ code: 'another_browser' });
  if (sameDomain > 0) {
    const more = sameDomain >= maxOfOneDomain;
    found.push({ code: 'same_domain', count: sameDomain, more, domain: domainOf(email) });
  }
  return found;
}
