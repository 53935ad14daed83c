import { and, asc, count, eq, gte, ilike, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { identities, users } from '../db/schema/accounts.ts';
import { auditEvents } from '../db/schema/audit.ts';
import { memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import { addressSearchTexts, domainOf } from '../security/address.ts';
import { freeLine, partOf } from '../security/text.ts';
import { type Principal, requireOperator } from '../sessions/principal.ts';
import { joinedNothing } from './found-organisations.ts';

const week = 7 * 86_400_000;
const mostRows = 200;

export const queueInput = z.object({ search: freeLine(100).optional() });

type Evidence = { tone: 'good' | 'plain' | 'warn' | 'bad'; text: string };

/**
 * The organisations that wait for a decision, oldest first, each with what is known
 * about it: owners who have confirmed their address come up, others have a gate of
 * their own to open first. After them the accounts that came by an invitation and joined
 * nothing: each stands for the organisation that a decision about it makes, by the account's id.
 */
export async function readQueue(app: App, principal: Principal | null, { search }: z.output<typeof queueInput>) {
  requireOperator(principal);

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

  const alone = await app.db
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
    .where(and(awaitsAlone(app), matchesAccount(search)))
    .orderBy(asc(users.createdAt))
    .limit(mostRows);

  const all = [...rows, ...alone.map((row) => ({ ...row, organisation: standIn(row.owner) }))];
  return {
    waiting: all.map(({ requestedAt, verifiedAt, idpSubject, sameBrowser, sameDomain, ...row }) => ({
      ...row,
      requested_at: requestedAt.toISOString(),
      evidence: [
        ...(row.organisation.id === row.owner.id ? [joinedNothingBadge] : []),
        ...evidence({ ...row.owner, requestedAt, verifiedAt, idpSubject, sameBrowser, sameDomain }),
      ],
    })),
    counts: await readCounts(app),
  };
}

const joinedNothingBadge: Evidence = { tone: 'warn', text: 'Invited, joined nothing' };

function standIn({ id, email }: { id: string; email: string }) {
  return { id, slug: email, name: null };
}

function awaitsAlone(app: App) {
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

/** How many people of the same domain there are besides: a count of one domain's accounts, by their addresses. */
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
  if (idpSubject !== null) found.push({ tone: 'good', text: 'Signed in through the identity provider' });
  if (sameBrowser !== null && verifiedAt !== null) {
    found.push({
      tone: 'plain',
      text: `Opened the mail after ${duration(verifiedAt.getTime() - requestedAt.getTime())}`,
    });
  }
  if (sameBrowser === 'true') found.push({ tone: 'good', text: 'Same browser' });
  if (sameBrowser === 'false') found.push({ tone: 'warn', text: 'Another browser' });
  if (sameDomain > 0) found.push({ tone: 'plain', text: `${sameDomain} more from ${domainOf(email)}` });
  return found;
}

function duration(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`;
  return `${Math.round(seconds / 3600)} hours`;
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
  const alone = await app.db.$count(users, awaitsAlone(app));
  return { waiting: (open?.rows ?? 0) + alone, approved_this_week: approved?.rows ?? 0 };
}
