import { and, eq, inArray } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { recordChange, recordCreated, recordJoined } from '../../changes/record-change.ts';
import { createOrganisation, createWithSlug } from '../../organisations/organisation.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { paymentCustomers } from '../../platform/db/schema/billing.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import type { CommandLine } from '../actor.ts';
import { linkCustomer } from '../link-customer.ts';
import type { OrganisationLine } from './import-line.ts';
import type { Outcome } from './store-users.ts';

type Options = {
  dryRun: boolean;
  actor: CommandLine;
  /** Whether an earlier line that was not stored, because nothing is, holds a user. */
  isInFile: (email: string) => boolean;
};

/**
 * Stores an organisation with its members, also more than its plan allows, and links its customer. One whose slug, or
 * whose name and owners, are here already is left alone, but for a customer that was not linked yet.
 *
 * @throws AppError as `linkCustomer`; the organisation stays, and a second run links the customer.
 */
export async function storeOrganisation(app: App, line: OrganisationLine, options: Options): Promise<Outcome> {
  const members = await membersOf(app, line);
  const unknown = line.members.find(({ email }) => !members.has(email) && !(options.dryRun && options.isInFile(email)));
  if (unknown !== undefined) return { failed: `members: ${unknown.email} has no account.` };

  const known = await findHere(app, line, members);
  if (options.dryRun) return known === null ? 'stored' : 'here';
  const organisationId = known ?? (await app.db.transaction((tx) => create(app, tx, line, { members, ...options })));
  if (organisationId === null) return 'here';
  if (line.customer !== null && !(await isLinked(app, organisationId, line.customer))) {
    await linkCustomer(app, { organisationId, customerId: line.customer }, options.actor);
    return 'stored';
  }
  return known === null ? 'stored' : 'here';
}

async function membersOf(app: App, line: OrganisationLine): Promise<Map<string, string>> {
  const addresses = line.members.map(({ email }) => email);
  const rows = await app.db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(inArray(users.email, addresses));
  return new Map(rows.map(({ id, email }) => [email, id]));
}

/** Returns the organisation of a line that is here already: by its slug, else by its name and owners. */
async function findHere(app: App, line: OrganisationLine, members: Map<string, string>): Promise<string | null> {
  if (line.slug !== null) {
    const [row] = await app.db
      .select({ id: organisations.id })
      .from(organisations)
      .where(eq(organisations.slug, line.slug));
    return row?.id ?? null;
  }
  const rows = await app.db
    .select({ id: organisations.id, userId: memberships.userId })
    .from(organisations)
    .innerJoin(memberships, and(eq(memberships.organisationId, organisations.id), eq(memberships.role, 'owner')))
    .where(eq(organisations.name, line.name));
  const wanted = ownersIn(line).map((email) => members.get(email) ?? email);
  const same = rows.find(({ id }) => {
    const owners = rows.filter((row) => row.id === id).map(({ userId }) => userId);
    return owners.length === wanted.length && owners.every((owner) => wanted.includes(owner));
  });
  return same?.id ?? null;
}

function ownersIn(line: OrganisationLine): string[] {
  return line.members.filter(({ role }) => role === 'owner').map(({ email }) => email);
}

/** Returns the id of the new organisation; null if its slug was taken meanwhile. */
async function create(
  app: App,
  tx: Transaction,
  line: OrganisationLine,
  { members, actor }: Options & { members: Map<string, string> },
): Promise<string | null> {
  const { slug, name, approval, createdAt } = line;
  const now = app.now();
  const [first = '', ...others] = [...ownersIn(line), ...line.members.map(({ email }) => email)].filter(
    (email, at, all) => all.indexOf(email) === at,
  );
  const ownerId = members.get(first) ?? '';
  const id =
    slug === null
      ? await createOrganisation(tx, createdAt, { ownerId, name, email: first })
      : await createWithSlug(tx, createdAt, { ownerId, name, slug });
  if (id === null) return null;

  const decision = {
    pending: {},
    approved: { approval: 'approved', approvedAt: now },
    declined: { approval: 'declined', declinedAt: now, declineReason: 'Imported as declined.' },
    suspended: { approval: 'approved', approvedAt: now, suspendedAt: now },
  } as const;
  await tx
    .update(organisations)
    .set({ provisioned: true, ...decision[approval] })
    .where(eq(organisations.id, id));
  const details = { members: String(line.members.length) };
  await recordAudit(tx, now, { action: 'organisation-imported', ...actor, organisationId: id, details });
  // In this order, as of an organisation whose e-mail gate opens.
  await recordCreated(tx, now, id);
  await recordJoined(tx, now, { organisationId: id, userId: ownerId });
  if (approval !== 'pending') {
    const type = approval === 'declined' ? 'organisation.declined' : 'organisation.approved';
    await recordChange(tx, now, { type, organisationId: id });
  }
  if (approval === 'suspended') await recordChange(tx, now, { type: 'organisation.suspended', organisationId: id });
  const roles = new Map(line.members.map(({ email, role }) => [email, role]));
  for (const email of others) {
    const member = { organisationId: id, userId: members.get(email) ?? '' };
    await tx.insert(memberships).values({ ...member, role: roles.get(email) ?? 'viewer', createdAt });
    await recordJoined(tx, now, member);
  }
  return id;
}

async function isLinked(app: App, organisationId: string, customer: string): Promise<boolean> {
  const isOwn = and(eq(paymentCustomers.organisationId, organisationId), eq(paymentCustomers.customerId, customer));
  return (await app.db.$count(paymentCustomers, isOwn)) > 0;
}
