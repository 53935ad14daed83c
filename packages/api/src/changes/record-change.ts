import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '../platform/db/client.ts';
import { insertInSteps } from '../platform/db/in-steps.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { changes } from '../platform/db/schema/changes.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';

/** Every type of change that the feed tells other services. testing/audit/told-actions.ts has a case for each. */
export const changeTypes = [
  'organisation.created',
  'organisation.approved',
  'organisation.declined',
  'organisation.suspended',
  'organisation.restored',
  'organisation.renamed',
  'organisation.deleted',
  'plan.changed',
  'user.renamed',
  'member.joined',
  'member.left',
  'member.role_changed',
  'user.email_changed',
  'user.suspended',
  'user.restored',
  'user.deleted',
] as const;

export type ChangeType = (typeof changeTypes)[number];

/** A plan as the feed tells it. */
type ToldPlan = {
  tier: string;
  status: string;
  ends_at: string | null;
  limits: Record<string, number | null>;
  features: Record<string, boolean>;
};
type OrganisationChange = { organisationId: string } & (
  | { type: 'organisation.approved' | 'organisation.declined' | 'organisation.restored' | 'organisation.deleted' }
  /** An approval that was undone ends access as a suspension does. */
  | { type: 'organisation.suspended'; data?: { approval: 'pending' } }
  | { type: 'organisation.renamed'; data: { slug: string; name: string | null } }
  | { type: 'plan.changed'; data: ToldPlan }
);
type MemberChange = { organisationId: string; userId: string } & (
  | { type: 'member.left' }
  | { type: 'member.role_changed'; data: { role: string } }
);
type UserChange = { userId: string } & (
  | { type: 'user.suspended' | 'user.restored' }
  | { type: 'user.renamed'; data: { name: string | null } }
  | { type: 'user.email_changed'; data: { email: string } }
);

/**
 * Tells other services a change, in the transaction that makes it: after the statement that locked the changed row, so
 * that of two changes of one row the later one is told later, and before the rows are deleted, if they are. A change of
 * a user is told once for each of their organisations, and for none where there is none.
 *
 * What nobody has verified is told to nobody: nothing is recorded about a user whose address is unverified, nor about
 * an organisation without a verified member, unless an API key or an import made it.
 */
export async function recordChange(
  tx: Transaction,
  now: Date,
  change: OrganisationChange | MemberChange | UserChange,
): Promise<void> {
  const { type } = change;
  const data = ('data' in change && change.data) || {};
  if (!('userId' in change)) {
    const { organisationId } = change;
    const where = sql`where ${isKnown(organisationId)}`;
    await insert(tx, now, { type, organisationId: sql`${organisationId}`, userId: null, data }, where);
  } else if ('organisationId' in change) {
    const { organisationId, userId } = change;
    const where = sql`from ${users} where ${isVerified(userId)}`;
    await insert(tx, now, { type, organisationId: sql`${organisationId}`, userId, data }, where);
  } else {
    await recordForEach(tx, now, { type, userId: change.userId, data });
  }
}

/**
 * Tells that a user's account ends: user.deleted once for each of their organisations, and for none where there is none,
 * and then member.left of each. To be called before the user is deleted, and before the organisations that end too.
 */
export async function recordDeletedUser(tx: Transaction, now: Date, userId: string): Promise<void> {
  await recordForEach(tx, now, { type: 'user.deleted', userId, data: {} });
  const left = { type: 'member.left', organisationId: sql`${memberships.organisationId}`, userId, data: {} } as const;
  await insert(tx, now, left, sql`from ${membershipsOf(userId, sql`join`)}`);
}

/** Tells that an API key made an organisation, or took it over, and what operators had decided about it; before its members. */
export async function recordCreated(tx: Transaction, now: Date, organisationId: string): Promise<void> {
  const [made] = await tx
    .select({
      slug: organisations.slug,
      name: organisations.name,
      approval: organisations.approval,
      suspendedAt: organisations.suspendedAt,
    })
    .from(organisations)
    .where(eq(organisations.id, organisationId));
  if (made === undefined) return;
  const { slug, name } = made;
  const about = { at: now, organisationId };
  await tx
    .insert(changes)
    .values([{ ...about, type: 'organisation.created', data: { slug, name } }, ...decided(about, made)]);
}

type Decided = Pick<typeof organisations.$inferSelect, 'approval' | 'suspendedAt'>;

/** What operators had decided about an organisation that is told for the first time. */
function decided(about: { at: Date; organisationId: string }, { approval, suspendedAt }: Decided) {
  const told: (typeof changes.$inferInsert & { type: ChangeType })[] = [];
  if (approval !== 'pending') told.push({ ...about, type: `organisation.${approval}` });
  if (suspendedAt !== null) told.push({ ...about, type: 'organisation.suspended' });
  return told;
}

/** Tells that a user whose address was just verified belongs to each of their organisations, as `recordJoined` does. */
export async function recordAllJoined(tx: Transaction, now: Date, userId: string): Promise<void> {
  const joined = await tx
    .select({ organisationId: memberships.organisationId })
    .from(memberships)
    .where(eq(memberships.userId, userId))
    .orderBy(memberships.createdAt, memberships.organisationId);
  for (const { organisationId } of joined) await recordJoined(tx, now, { organisationId, userId });
}

/**
 * Tells that a verified user belongs to an organisation, and whether the user is suspended. Of its first verified member,
 * with whom the e-mail gate of the organisation opened, it first tells that the organisation exists, and at last what
 * operators had decided about it.
 * To be called when name and slug are final, and before a rule approves the organisation.
 */
export async function recordJoined(
  tx: Transaction,
  now: Date,
  { organisationId, userId }: { organisationId: string; userId: string },
): Promise<void> {
  const others = sql`${verifiedMembers(organisationId)} and ${users.id} <> ${userId}`;
  const [joined] = await tx
    .select({
      role: memberships.role,
      slug: organisations.slug,
      name: organisations.name,
      approval: organisations.approval,
      suspendedAt: organisations.suspendedAt,
      userSuspendedAt: users.suspendedAt,
      // One that an API key or an import made was told when it was made.
      isFirst: sql<boolean>`not ${organisations.provisioned} and not exists (${others})`,
    })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.organisationId, organisationId), isVerified(userId)));
  if (joined === undefined) return;

  const { role, slug, name, userSuspendedAt, isFirst } = joined;
  const about = { at: now, organisationId };
  const told: (typeof changes.$inferInsert & { type: ChangeType })[] = [];
  if (isFirst) told.push({ ...about, type: 'organisation.created', data: { slug, name } });
  told.push({ ...about, type: 'member.joined', userId, data: { role } });
  if (userSuspendedAt !== null) told.push({ ...about, type: 'user.suspended', userId });
  if (isFirst) told.push(...decided(about, joined));
  await tx.insert(changes).values(told);
}

/** An organisation that an import made, with its verified members, an owner first. */
type ImportedOrganisation = {
  organisationId: string;
  slug: string;
  name: string;
  approval: 'pending' | 'approved' | 'declined' | 'suspended';
  members: { userId: string; role: string; isSuspended: boolean }[];
};

/** Tells organisations that an import made: each as if it had been created, joined by its owner, decided about and joined. */
export async function recordImported(tx: Transaction, now: Date, made: ImportedOrganisation[]): Promise<void> {
  const told = made.flatMap(({ organisationId, slug, name, approval, members }) => {
    const about = { at: now, organisationId };
    const joined = members.map(({ userId, role, isSuspended }) => [
      { ...about, type: 'member.joined', userId, data: { role } },
      ...(isSuspended ? [{ ...about, type: 'user.suspended', userId }] : []),
    ]);
    const decided = {
      pending: [],
      approved: [{ ...about, type: 'organisation.approved' }],
      declined: [{ ...about, type: 'organisation.declined' }],
      suspended: [
        { ...about, type: 'organisation.approved' },
        { ...about, type: 'organisation.suspended' },
      ],
    }[approval];
    const created = { ...about, type: 'organisation.created', data: { slug, name } };
    return [created, ...joined.slice(0, 1).flat(), ...decided, ...joined.slice(1).flat()];
  });
  await insertInSteps(tx, changes, told);
}

/** Tells a change of a verified user for each of their organisations, or for none. */
function recordForEach(tx: Transaction, now: Date, change: { type: ChangeType; userId: string; data: object }) {
  const organisationId = sql`${memberships.organisationId}`;
  return insert(tx, now, { ...change, organisationId }, sql`from ${membershipsOf(change.userId, sql`left join`)}`);
}

type Row = { type: ChangeType; organisationId: SQL; userId: string | null; data: object };

/** Inserts a row for each row of a query. One statement, because it also decides whether anything is told. */
async function insert(tx: Transaction, now: Date, { type, organisationId, userId, data }: Row, from: SQL) {
  await tx.execute(sql`
    insert into ${changes} (at, type, organisation_id, user_id, data)
    select ${now.toISOString()}::timestamptz, ${type}, ${organisationId}::uuid, ${userId}::uuid,
      ${JSON.stringify(data)}::jsonb ${from}`);
}

function membershipsOf(userId: string, join: SQL): SQL {
  return sql`${users} ${join} ${memberships} on ${memberships.userId} = ${users.id}
    where ${isVerified(userId)} order by ${memberships.organisationId}`;
}

function isVerified(userId: string): SQL {
  return sql`${users.id} = ${userId} and ${users.emailVerifiedAt} is not null`;
}

/** Whether other services know an organisation. */
function isKnown(organisationId: string): SQL {
  return sql`(exists (${verifiedMembers(organisationId)}) or exists (select from ${organisations}
    where ${organisations.id} = ${organisationId} and ${organisations.provisioned}))`;
}

function verifiedMembers(organisationId: string): SQL {
  return sql`select from ${memberships} join ${users} on ${users.id} = ${memberships.userId}
    where ${memberships.organisationId} = ${organisationId} and ${users.emailVerifiedAt} is not null`;
}
