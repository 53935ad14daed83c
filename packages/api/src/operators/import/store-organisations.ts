import { setTimeout as delay } from 'node:timers/promises';
import { and, eq, inArray, not, or, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { insertAudit } from '../../audit/record.ts';
import { readCustomer } from '../../billing/customers/customer.ts';
import { recordImported } from '../../changes/record-change.ts';
import { insertOrganisations } from '../../organisations/organisation.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { insertInSteps } from '../../platform/db/in-steps.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import type { CommandLine } from '../actor.ts';
import { linkCustomer } from '../link-customer.ts';
import type { OrganisationLine } from './import-line.ts';
import { failureOf } from './one-by-one.ts';
import type { Outcome } from './store-users.ts';

type Options = {
  dryRun: boolean;
  actor: CommandLine;
  /** Whether an earlier line that was not stored, because nothing is, holds a user. */
  isInFile: (email: string) => boolean;
};

/** At most 25 customers a second are asked for. */
const customerPauseMilliseconds = 40;

/**
 * Stores organisations with their members, also more than their plan allows, in one transaction and by few statements, and
 * then links their customers. One whose slug, or whose name and owners, are here already is left alone: it gets its
 * customer if it has none and nobody signed it up, because a stranger may have chosen the slug. Where a customer cannot
 * be linked the organisation stays, and a second run links it. Returns what became of each, in their order.
 */
export async function storeOrganisations(app: App, lines: OrganisationLine[], options: Options): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const stored = await app.db.transaction((tx) => storeAll(app, tx, lines, options));
  for (const [at, { outcome, organisationId }] of stored.entries()) {
    const customerId = lines[at]?.customer ?? null;
    const hasLink = organisationId !== null && customerId !== null;
    const linked = hasLink && linkMissing(app, { organisationId, customerId }, options.actor).catch(failureOf);
    outcomes.push((await linked) || outcome);
  }
  return outcomes;
}

/** What became of a line, and the organisation whose customer may be missing; null in a dry run. */
type Stored = { outcome: Outcome; organisationId: string | null };

type Accounts = Awaited<ReturnType<typeof lockMembers>>;

async function storeAll(
  app: App,
  tx: Transaction,
  lines: OrganisationLine[],
  { dryRun, actor, isInFile }: Options,
): Promise<Stored[]> {
  const accounts = await lockMembers(tx, lines);
  const here = await findHere(tx, lines, accounts);
  const unknownIn = ({ members }: OrganisationLine) =>
    members.find(({ email }) => !accounts.has(email) && !(dryRun && isInFile(email)));
  const fresh = lines.filter((line) => !here.has(line) && unknownIn(line) === undefined);
  const made = dryRun ? new Map<OrganisationLine, string>() : await create(app, tx, fresh, { accounts, actor });

  return lines.map((line): Stored => {
    const unknown = unknownIn(line);
    if (unknown) return { outcome: { failed: `members: ${unknown.email} has no account.` }, organisationId: null };
    if (dryRun) return { outcome: here.has(line) ? 'here' : 'stored', organisationId: null };
    const organisationId = made.get(line) ?? here.get(line) ?? null;
    return { outcome: made.has(line) ? 'stored' : 'here', organisationId };
  });
}

/** Locked, so that none is verified or suspended meanwhile: who belongs to an organisation is told when both are known. */
async function lockMembers(tx: Transaction, lines: OrganisationLine[]) {
  const addresses = lines.flatMap(({ members }) => members.map(({ email }) => email));
  const rows = await tx
    .select({
      id: users.id,
      email: users.email,
      verifiedAt: users.emailVerifiedAt,
      suspendedAt: users.suspendedAt,
    })
    .from(users)
    .where(inArray(users.email, [...new Set(addresses)]))
    .orderBy(users.id)
    .for('no key update');
  return new Map(
    rows.map(({ id, email, verifiedAt, suspendedAt }) => {
      return [email, { id, isVerified: verifiedAt !== null, isSuspended: suspendedAt !== null }];
    }),
  );
}

/**
 * Returns the organisations of lines that are here already: by their slug, else by their name and owners. Null for one
 * that somebody signed up with the slug.
 */
async function findHere(tx: Transaction, lines: OrganisationLine[], accounts: Accounts) {
  const slugs = lines.flatMap(({ slug }) => slug ?? []);
  const names = lines.flatMap(({ slug, name }) => (slug === null ? name : []));
  const withSlug = await tx
    .select({ id: organisations.id, slug: organisations.slug, provisioned: organisations.provisioned })
    .from(organisations)
    .where(inArray(organisations.slug, slugs));
  const owners = await tx
    .select({ id: organisations.id, name: organisations.name, userId: memberships.userId })
    .from(organisations)
    .innerJoin(memberships, and(eq(memberships.organisationId, organisations.id), eq(memberships.role, 'owner')))
    // By the index on the name in lower case.
    .where(
      and(
        inArray(
          sql`lower(${organisations.name})`,
          names.map((name) => sql`lower(${name})`),
        ),
        inArray(organisations.name, names),
      ),
    );

  const bySlug = new Map(withSlug.map(({ id, slug, provisioned }) => [slug, provisioned ? id : null]));
  const ownersOf = new Map<string, { name: string | null; userIds: string[] }>();
  for (const { id, name, userId } of owners) {
    const found = ownersOf.get(id);
    if (found === undefined) ownersOf.set(id, { name, userIds: [userId] });
    else found.userIds.push(userId);
  }
  const byName = new Map([...ownersOf].map(([id, { name, userIds }]) => [nameKey(name ?? '', userIds), id]));
  const here = new Map<OrganisationLine, string | null>();
  for (const line of lines) {
    const ids = line.members.flatMap(({ email, role }) => (role === 'owner' ? (accounts.get(email)?.id ?? email) : []));
    const id = line.slug === null ? byName.get(nameKey(line.name, ids)) : bySlug.get(line.slug);
    if (id !== undefined) here.set(line, id);
  }
  return here;
}

function nameKey(name: string, ownerIds: string[]): string {
  return JSON.stringify([name, ...ownerIds.toSorted()]);
}

/** Returns the ids of the new organisations. One whose slug was taken meanwhile, or by an earlier line, is not among them. */
async function create(
  app: App,
  tx: Transaction,
  lines: OrganisationLine[],
  { accounts, actor }: { accounts: Accounts; actor: CommandLine },
): Promise<Map<OrganisationLine, string>> {
  const now = app.now();
  const ids = new Map(lines.map((line) => [line, newId(now)]));
  const slugs = await insertOrganisations(
    tx,
    lines.map((line) => ({ ...valuesOf(line, now), id: ids.get(line) ?? '' })),
  );
  const stored = lines.flatMap((line) => {
    const organisationId = ids.get(line) ?? '';
    const slug = slugs.get(organisationId);
    return slug === undefined ? [] : [{ line, organisationId, slug, members: membersOf(line, accounts) }];
  });

  const members = stored.flatMap(({ organisationId, members, line: { createdAt } }) =>
    members.map(({ userId, role }) => ({ organisationId, userId, role, createdAt })),
  );
  await insertInSteps(tx, memberships, members);
  const userIds = members.map(({ userId }) => userId);
  await tx
    .update(users)
    .set({ invitedOnly: false, provisioned: true })
    .where(and(inArray(users.id, userIds), or(users.invitedOnly, not(users.provisioned))));

  const entries = stored.map(({ organisationId, members }) => {
    const details = { members: String(members.length) };
    return { action: 'organisation-imported' as const, ...actor, organisationId, details };
  });
  await insertAudit(tx, now, entries);
  const told = stored.map(({ line: { name, approval }, members, ...about }) => {
    return { ...about, name, approval, members: members.filter(({ isVerified }) => isVerified) };
  });
  await recordImported(tx, now, told);
  return new Map(stored.map(({ line, organisationId }) => [line, organisationId]));
}

function valuesOf({ slug, name, approval, createdAt }: OrganisationLine, now: Date) {
  const decision = {
    pending: {},
    approved: { approval: 'approved', approvedAt: now },
    declined: { approval: 'declined', declinedAt: now, declineReason: 'Imported as declined.' },
    suspended: { approval: 'approved', approvedAt: now, suspendedAt: now },
  } as const;
  return { slug, name, createdAt, provisioned: true, ...decision[approval] };
}

/** The members of a line, an owner first. */
function membersOf({ members }: OrganisationLine, accounts: Accounts) {
  const first = members.find(({ role }) => role === 'owner');
  const ordered = [first, ...members.filter((member) => member !== first)].filter((member) => member !== undefined);
  return ordered.map(({ email, role }) => {
    const { id = '', isVerified = false, isSuspended = false } = accounts.get(email) ?? {};
    return { userId: id, role, isVerified, isSuspended };
  });
}

/** Links a customer; null if the organisation has one. @throws AppError as `linkCustomer`. */
async function linkMissing(
  app: App,
  link: { organisationId: string; customerId: string },
  actor: CommandLine,
): Promise<Outcome | null> {
  if ((await readCustomer(app, link.organisationId)) !== null) return null;
  await delay(customerPauseMilliseconds);
  await linkCustomer(app, link, actor);
  return 'stored';
}
