import { and, eq, inArray, or } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { insertAudit } from '../../audit/record.ts';
import { isUnclaimed } from '../../auth/sessions/account.ts';
import { deleteUnverifiedData } from '../../auth/sign-in/match-user.ts';
import { unprovenOrganisation } from '../../auth/sign-up/pending-sign-up.ts';
import { recordJoined } from '../../changes/record-change.ts';
import { deleteWithoutMembers } from '../../organisations/organisation.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import type { CommandLine } from '../actor.ts';
import type { UserLine } from './import-line.ts';

/** What became of a line: stored, here already, or the sentence that says why it failed. */
export type Outcome = 'stored' | 'here' | { failed: string };

/**
 * Stores users whose addresses and identities differ, in one transaction. An address that has an account is left alone, but
 * that a verified line takes over an unverified account: everything unproven of it ends; and that one which nobody has
 * followed up is not deleted from then on. With `dryRun` nothing is stored.
 * Returns what became of each, in their order.
 */
export function storeUsers(
  app: App,
  lines: UserLine[],
  { dryRun, actor }: { dryRun: boolean; actor: CommandLine },
): Promise<Outcome[]> {
  return app.db.transaction(async (tx) => {
    const here = await accountsHere(tx, lines);
    const taken = await identitiesHere(tx, lines);
    const outcomes = lines.map((line): Outcome => {
      const known = here.get(line.email);
      if (known !== undefined && (known.verified || !line.verified)) return 'here';
      if (line.identity !== null && taken.has(JSON.stringify(line.identity))) {
        return { failed: `identity: ${line.identity.subject} belongs to another account.` };
      }
      return 'stored';
    });
    if (dryRun) return outcomes;

    const stored = lines.filter((_line, at) => outcomes[at] === 'stored');
    await keepUnclaimed(
      tx,
      lines.flatMap(({ email }, at) => (outcomes[at] === 'here' ? email : [])),
    );
    const ids = new Map(stored.map(({ email }) => [email, here.get(email)?.id ?? newId(app.now())]));
    for (const line of stored.filter(({ email }) => here.has(email))) await takeOver(app, tx, line, ids);
    await insertNew(
      app,
      tx,
      stored.filter(({ email }) => !here.has(email)),
      ids,
    );
    await linkIdentities(app, tx, stored, ids);
    const entries = stored.map(({ email }) => ({
      action: 'user-imported' as const,
      ...actor,
      userId: ids.get(email) ?? null,
    }));
    await insertAudit(tx, app.now(), entries);
    return outcomes;
  });
}

async function accountsHere(tx: Transaction, lines: UserLine[]) {
  const addresses = lines.map(({ email }) => email);
  const rows = await tx
    .select({ id: users.id, email: users.email, verifiedAt: users.emailVerifiedAt })
    .from(users)
    .where(inArray(users.email, addresses))
    .orderBy(users.id)
    .for('update');
  return new Map(rows.map(({ id, email, verifiedAt }) => [email, { id, verified: verifiedAt !== null }]));
}

async function identitiesHere(tx: Transaction, lines: UserLine[]): Promise<Set<string>> {
  const wanted = lines.flatMap(({ identity }) => identity ?? []);
  if (wanted.length === 0) return new Set();
  const rows = await tx
    .select({ issuer: identities.issuer, subject: identities.subject })
    .from(identities)
    .where(
      or(...wanted.map(({ issuer, subject }) => and(eq(identities.issuer, issuer), eq(identities.subject, subject)))),
    );
  return new Set(rows.map((row) => JSON.stringify(row)));
}

/**
 * Keeps accounts that nobody has followed up, maybe of a stranger's sign-up: an imported user has the address, so that
 * the account must not be deleted after seven days.
 */
async function keepUnclaimed(tx: Transaction, addresses: string[]): Promise<void> {
  await tx
    .update(users)
    .set({ provisioned: true })
    .where(and(inArray(users.email, addresses), isUnclaimed));
}

/** What is stored of a line, beside its address. */
function valuesOf(app: App, line: UserLine) {
  return {
    name: line.name,
    passwordHash: line.passwordHash,
    emailVerifiedAt: line.verified ? app.now() : null,
    suspendedAt: line.suspended ? app.now() : null,
    createdAt: line.createdAt,
    provisioned: true,
  };
}

/** A stranger may have signed up with the address: nothing of that stays, nor the organisation that the sign-up made. */
async function takeOver(app: App, tx: Transaction, line: UserLine, ids: Map<string, string>): Promise<void> {
  const id = ids.get(line.email) ?? '';
  await deleteUnverifiedData(tx, id);
  const organisationId = await unprovenOrganisation(tx, id);
  if (organisationId !== null) {
    await tx.delete(memberships).where(and(eq(memberships.userId, id), eq(memberships.organisationId, organisationId)));
    await deleteWithoutMembers(tx, [organisationId]);
  }

  // An operator may have suspended the account, which the line knows nothing of.
  const { suspendedAt, ...values } = valuesOf(app, line);
  await tx
    .update(users)
    .set({ ...values, ...(suspendedAt !== null && { suspendedAt }), invitedOnly: false })
    .where(eq(users.id, id));
  const kept = await tx
    .select({ organisationId: memberships.organisationId })
    .from(memberships)
    .where(eq(memberships.userId, id));
  for (const { organisationId } of kept) await recordJoined(tx, app.now(), { organisationId, userId: id });
}

async function insertNew(app: App, tx: Transaction, lines: UserLine[], ids: Map<string, string>): Promise<void> {
  if (lines.length === 0) return;
  const rows = lines.map((line) => ({ id: ids.get(line.email) ?? '', email: line.email, ...valuesOf(app, line) }));
  await tx.insert(users).values(rows);
}

async function linkIdentities(app: App, tx: Transaction, lines: UserLine[], ids: Map<string, string>): Promise<void> {
  const rows = lines.flatMap(({ email, identity }) =>
    identity === null ? [] : [{ userId: ids.get(email) ?? '', ...identity, linkedAt: app.now() }],
  );
  if (rows.length > 0) await tx.insert(identities).values(rows);
}
