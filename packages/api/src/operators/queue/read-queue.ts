import { and, asc, eq, ilike, isNull, or, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { addressSearchTexts } from '../../platform/security/address.ts';
import { freeLine, partOf } from '../../platform/security/text.ts';
import { invitedWithoutOrganisation } from '../create-missing-organisations.ts';
import { afterCursor, cursorInput, cursorOf } from '../pagination.ts';
import { evidenceColumns, evidenceFrom } from './evidence.ts';
import { readCounts } from './read-counts.ts';
import { verifiedOwner } from './verified-owner.ts';

const rowsPerPage = 50;

export const queueInput = z.object({ search: freeLine(100).optional(), after: cursorInput });

type Input = z.output<typeof queueInput>;

/**
 * Returns a page of the organisations that await a decision, oldest first, each with evidence
 * about its owner. An organisation appears once its owner has verified the address. Among them
 * are the users who signed up with an invitation and joined no organisation: a decision creates
 * an organisation for such a user, and until then the user's id takes the place of its id.
 */
export async function readQueue(app: App, _operator: Operator, { search, after }: Input) {
  const firstOwner = verifiedOwner(app.db);
  const withOrganisation = await app.db
    .select({
      organisation: { id: organisations.id, slug: organisations.slug, name: organisations.name },
      requestedAt: organisations.createdAt,
      ...ownerColumns,
    })
    .from(organisations)
    .innerJoinLateral(firstOwner, sql`true`)
    .leftJoin(identities, isLinked)
    .where(and(isWaiting, matches(search), afterCursor(organisations.createdAt, organisations.id, after)))
    .orderBy(asc(organisations.createdAt), asc(organisations.id))
    .limit(rowsPerPage + 1);

  const withoutOrganisation = await app.db
    .select({ requestedAt: users.createdAt, ...ownerColumns })
    .from(users)
    .leftJoin(identities, isLinked)
    .where(and(awaitsWithoutOrganisation(app), matchesAddress(search), afterCursor(users.createdAt, users.id, after)))
    .orderBy(asc(users.createdAt), asc(users.id))
    .limit(rowsPerPage + 1);

  const found = [
    ...withOrganisation,
    ...withoutOrganisation.map((row) => ({ ...row, organisation: futureOrganisation(row.owner) })),
  ].sort((one, other) => positionOf(one).localeCompare(positionOf(other)));
  const shown = found.slice(0, rowsPerPage);
  const last = found.length > rowsPerPage ? shown.at(-1) : undefined;
  return {
    waiting: shown.map(({ organisation, owner, requestedAt, ...facts }) => ({
      organisation,
      owner,
      requested_at: requestedAt.toISOString(),
      evidence: [
        ...(organisation.id === owner.id ? [{ code: 'joined_nothing' as const }] : []),
        ...evidenceFrom({ ...facts, email: owner.email, requestedAt }),
      ],
    })),
    next: last === undefined ? null : cursorOf(last.requestedAt, last.organisation.id),
    counts: await readCounts(app, { isWaiting, firstOwner, withoutOrganisation: awaitsWithoutOrganisation(app) }),
  };
}

const ownerColumns = { owner: { id: users.id, email: users.email, name: users.name }, ...evidenceColumns };
const isLinked = and(eq(identities.userId, users.id), isNull(identities.unlinkedAt));

function positionOf({ requestedAt, organisation }: { requestedAt: Date; organisation: { id: string } }): string {
  return `${requestedAt.toISOString()} ${organisation.id}`;
}

function futureOrganisation({ id, email }: { id: string; email: string }) {
  return { id, slug: email, name: null };
}

function awaitsWithoutOrganisation(app: App): SQL | undefined {
  return and(invitedWithoutOrganisation(app.db), isNull(users.suspendedAt));
}

const isWaiting = and(eq(organisations.approval, 'pending'), isNull(organisations.suspendedAt));

function matches(search: string | undefined): SQL | undefined {
  if (!search) return undefined;
  const pattern = partOf(search);
  return or(ilike(organisations.name, pattern), ilike(organisations.slug, pattern), matchesAddress(search));
}

function matchesAddress(search: string | undefined): SQL | undefined {
  return search ? or(...addressSearchTexts(search).map((text) => ilike(users.email, partOf(text)))) : undefined;
}
