import { and, asc, eq, gt, inArray, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { approvalOf } from '../../organisations/account-status.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { paymentCustomers } from '../../platform/db/schema/billing.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { exportedForm } from '../../platform/security/imported-hash.ts';
import type { CommandLine } from '../actor.ts';

const pageSize = 1000;

/**
 * Yields what an import reads: a line for each user with the hash of the password, then one for each organisation that
 * has an owner. Second factors, sessions and API keys are not in it. The audit log records it.
 */
export async function* exportUsers(app: App, actor: CommandLine): AsyncGenerator<string> {
  await recordAudit(app.db, app.now(), { action: 'users-exported', ...actor });
  yield* pagesOf((after) => readUsers(app, after), userLine);
  yield* pagesOf((after) => readOrganisations(app, after), organisationLine);
}

async function* pagesOf<Row extends { id: string }>(
  read: (after: string | null) => Promise<Row[]>,
  lineOf: (row: Row) => object | null,
): AsyncGenerator<string> {
  for (let after: string | null = null; ; ) {
    const rows: Row[] = await read(after);
    const lines = rows.map(lineOf).filter((line) => line !== null);
    if (lines.length > 0) yield lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    after = rows.at(-1)?.id ?? null;
    if (rows.length < pageSize) return;
  }
}

type UserRow = Awaited<ReturnType<typeof readUsers>>[number];

function readUsers({ db }: App, after: string | null) {
  return db
    .select({
      id: users.id,
      email: users.email,
      name: users.name,
      verifiedAt: users.emailVerifiedAt,
      suspendedAt: users.suspendedAt,
      createdAt: users.createdAt,
      passwordHash: users.passwordHash,
      issuer: identities.issuer,
      subject: identities.subject,
    })
    .from(users)
    .leftJoin(identities, and(eq(identities.userId, users.id), isNull(identities.unlinkedAt)))
    .where(after === null ? undefined : gt(users.id, after))
    .orderBy(asc(users.id))
    .limit(pageSize);
}

function userLine(row: UserRow): object {
  const { email, name, passwordHash, issuer, subject } = row;
  return {
    type: 'user',
    email,
    ...(name !== null && { name }),
    verified: row.verifiedAt !== null,
    ...(row.suspendedAt !== null && { suspended: true }),
    created_at: row.createdAt,
    ...(passwordHash !== null && { password: exportedForm(passwordHash) }),
    ...(issuer !== null && subject !== null && { identity: { issuer, subject } }),
  };
}

async function readOrganisations({ db }: App, after: string | null) {
  const rows = await db
    .select({
      id: organisations.id,
      slug: organisations.slug,
      name: organisations.name,
      approval: organisations.approval,
      suspendedAt: organisations.suspendedAt,
      createdAt: organisations.createdAt,
      customer: paymentCustomers.customerId,
    })
    .from(organisations)
    .leftJoin(paymentCustomers, eq(paymentCustomers.organisationId, organisations.id))
    .where(after === null ? undefined : gt(organisations.id, after))
    .orderBy(asc(organisations.id))
    .limit(pageSize);
  const members = await db
    .select({ organisationId: memberships.organisationId, email: users.email, role: memberships.role })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      inArray(
        memberships.organisationId,
        rows.map(({ id }) => id),
      ),
    )
    .orderBy(asc(memberships.createdAt), asc(memberships.userId));
  const byOrganisation = new Map<string, typeof members>(rows.map(({ id }) => [id, []]));
  for (const member of members) byOrganisation.get(member.organisationId)?.push(member);
  return rows.map((row) => ({ ...row, members: byOrganisation.get(row.id) ?? [] }));
}

type OrganisationRow = Awaited<ReturnType<typeof readOrganisations>>[number];

/** Null for one without an owner, whom an import needs. */
function organisationLine({ slug, name, createdAt, customer, members, ...row }: OrganisationRow): object | null {
  if (!members.some(({ role }) => role === 'owner')) return null;
  return {
    type: 'organisation',
    slug,
    name: name ?? slug,
    approval: approvalOf(row),
    created_at: createdAt,
    ...(customer !== null && { customer }),
    members: members.map(({ email, role }) => ({ email, role })),
  };
}
