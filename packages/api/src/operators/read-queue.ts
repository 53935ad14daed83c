import { and, asc, count, eq, gte, ilike, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { identities, users } from '../db/schema/accounts.ts';
import { auditEvents } from '../db/schema/audit.ts';
import { memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import { addressSearchTexts, domainOf } from '../security/address.ts';
import { freeLine, partOf } from '../security/text.ts';
import type { Operator } from '../sessions/authorisation.ts';
import { joinedNothing } from './found-organisations.ts';

const week = 7 * 86_400_000;
const mostRows = 200;

export const queueInput = z.object({ search: freeLine(100).optional() });

/** A fact about an owner that helps to decide. */
export type Evidence =
  | { code: 'joined_nothing' | 'identity_provider' | 'same_browser' | 'another_browser' }
  | { code: 'mail_opened'; after_seconds: number }
  /** How many other accounts have an address of the same domain. */
  | { code: 'same_domain'; count: number; domain: string };

/**
 * Returns the organisations that await a decision, oldest first, each with evidence about its
 * owner. An organisation appears once its owner has verified the address. After them come the
 * users who signed up with an invitation and joined no organisation: a decision creates an
 * organisation for such a user, and until then the user's id takes the place of its id.
 */
export async function readQueue(app: App, _operator: Operator, { search }: z.output<typeof queueInput>) {
  const rows = await app.db
    .select({
      organisation: { id: organisations.id, slug: organisations.slug, name: organisations.name },
      owner: { id: users.id, email: users.email, name: users.name },
      requestedAt: organisations.createdAt,
      verifiedAt: users.emailVerifiedAt,
      idpSubject: identities.subject,
      sameBrowser: sameBrowser(),
      sameDomain: sameDomain(),
    })
    .from(organisations)
    .innerJoin(memberships, and(eq(memberships.organisationId, organisations.id), eq(memberships.role, 'owner')))
    .innerJoin(users, eq(users.id, memberships.userId))
    .leftJoin(identities, and(eq(identities.userId, users.id), isNull(identities.unlinkedAt)))
    .where(and(waiting(), matches(search)))
    .orderBy(asc(organisations.createdAt))
    .limit(mostRows);

  const withoutOrganisation = await app.db
    .select({
      owner: { id: users.id, email: users.email, name: users.name },
      requestedAt: users.createdAt,
      verifiedAt: users.emailVerifiedAt,
      idpSubject: identities.subject,
      sameBrowser: sameBrowser(),
      sameDomain: sameDomain(),
    })
    .from(users)
    .leftJoin(identities, and(eq(identities.userId, users.id), isNull(identities.unlinkedAt)))
    .where(and(awaitsWithoutOrganisation(app), matchesAccount(search)))
    .orderBy(asc(users.createdAt))
    .limit(mostRows);

  const all = [...rows, ...withoutOrganisation.map((row) => ({ ...row, organisation: futureOrganisation(row.owner) }))];
  return {
    waiting: all.map(({ requestedAt, verifiedAt, idpSubject, sameBrowser, sameDomain, ...row }) => ({
      ...row,
      requested_at: requestedAt.toISOString(),
      evidence: [
        ...(row.organisation.id === row.owner.id ? [{ code: 'joined_nothing' as const }] : []),
        ...evidence({ ...row.owner, requestedAt, verifiedAt, idpSubject, sameBrowser, sameDomain }),
      ],
    })),
    counts: await readCounts(app),
  };
}

function futureOrganisation({ id, email }: { id: string; email: string }) {
  return { id, slug: email, name: null };
}

function awaitsWithoutOrganisation(app: App) {
  return and(joinedNothing(app.db), isNull(users.suspendedAt));
}

function waiting() {
  return and(
    eq(organisations.approval, 'pending'),
    isNull(organisations.suspendedAt),
    isNotNull(users.emailVerifiedAt),
  );
}

function matches(search: string | undefined): SQL | undefined {
  if (!search) return undefined;
  const pattern = partOf(search);
  const addresses = addressSearchTexts(search).map((text) => ilike(users.email, partOf(text)));
  return or(ilike(organisations.name, pattern), ilike(organisations.slug, pattern), ...addresses);
}

function matchesAccount(search: string | undefined): SQL | undefined {
  return search ? or(...addressSearchTexts(search).map((text) => ilike(users.email, partOf(text)))) : undefined;
}

function sameBrowser() {
  return sql<string | null>`(
    select ${auditEvents.details}->>'same_browser' from ${auditEvents}
    where ${auditEvents.userId} = ${users.id} and ${auditEvents.action} = 'address-verified'
    order by ${auditEvents.at} desc limit 1)`;
}

/** Counts the other accounts whose address has the same domain. */
function sameDomain() {
  return sql<number>`(
    select count(*)::int from users others
    where others.id <> ${users.id} and split_part(others.email, '@', 2) = split_part(${users.email}, '@', 2))`;
}

type Known = {
  email: string;
  requestedAt: Date;
  verifiedAt: Date | null;
  idpSubject: string | null;
  sameBrowser: string | null;
  sameDomain: number;
};

function evidence({ email, requestedAt, verifiedAt, idpSubject, sameBrowser, sameDomain }: Known): Evidence[] {
  const found: Evidence[] = [];
  if (idpSubject !== null) found.push({ code: 'identity_provider' });
  if (sameBrowser !== null && verifiedAt !== null) {
    const seconds = Math.round((verifiedAt.getTime() - requestedAt.getTime()) / 1000);
    found.push({ code: 'mail_opened', after_seconds: seconds });
  }
  if (sameBrowser === 'true') found.push({ code: 'same_browser' });
  if (sameBrowser === 'false') found.push({ code: 'another_browser' });
  if (sameDomain > 0) found.push({ code: 'same_domain', count: sameDomain, domain: domainOf(email) });
  return found;
}

async function readCounts(app: App) {
  const since = new Date(app.now().getTime() - week);
  const [open] = await app.db
    .select({ rows: count() })
    .from(organisations)
    .innerJoin(memberships, and(eq(memberships.organisationId, organisations.id), eq(memberships.role, 'owner')))
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(waiting());
  const [approved] = await app.db
    .select({ rows: count() })
    .from(organisations)
    .where(gte(organisations.approvedAt, since));
  const withoutOrganisation = await app.db.$count(users, awaitsWithoutOrganisation(app));
  return { waiting: (open?.rows ?? 0) + withoutOrganisation, approved_this_week: approved?.rows ?? 0 };
}
