import { randomInt } from 'node:crypto';
import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import { recordChange, recordCreated, recordJoined } from '../changes/record-change.ts';
import { prepared, type Transaction } from '../platform/db/client.ts';
import { isUuid, newId } from '../platform/db/id.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { paymentCustomers, paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { isSqlState } from '../platform/errors.ts';

/** `id` is that of the new organisation, for a caller that needs it earlier. */
type NewOrganisation = { id?: string; ownerId: string; name: string | null; email: string };

/** An organisation that an API key or an import makes. It may have no owner yet. */
type ProvisionedOrganisation = { name: string; ownerId: string | null };

/**
 * Creates an organisation that awaits approval, and its owner's membership.
 * Returns its id. The unique constraint decides about the slug: after a conflict another slug is
 * tried. For an owner with a verified address the caller tells other services (`recordJoined`).
 */
export async function createOrganisation(
  tx: Transaction,
  now: Date,
  { id = newId(now), ownerId, name, email }: NewOrganisation,
): Promise<string> {
  await insertOrganisation(tx, now, { id, wanted: slugFrom(name ?? email.slice(0, email.indexOf('@'))), name });
  await tx.insert(memberships).values({ userId: ownerId, organisationId: id, role: 'owner', createdAt: now });
  return id;
}

/**
 * Creates an organisation that awaits approval for an API key or an import, and tells other services at once: the
 * company itself typed the name. Returns its id.
 */
export async function provisionOrganisation(
  tx: Transaction,
  now: Date,
  { name, ownerId }: ProvisionedOrganisation,
): Promise<string> {
  const id = newId(now);
  await insertOrganisation(tx, now, { id, wanted: slugFrom(name), name });
  await markProvisioned(tx, now, id);
  if (ownerId !== null) await addMember(tx, now, { organisationId: id, userId: ownerId, role: 'owner' });
  return id;
}

/** Marks an organisation that nobody has proved as one that the company made, and tells other services about it. */
export async function markProvisioned(tx: Transaction, now: Date, id: string): Promise<void> {
  await tx.update(organisations).set({ provisioned: true }).where(eq(organisations.id, id));
  await recordCreated(tx, now, id);
}

type NewMember = { organisationId: string; userId: string; role: typeof memberships.$inferInsert.role };

/**
 * Makes a user a member, for an API key or an import. The user needs no approval of their own from then on, and an account
 * that nobody verifies is not deleted: the organisation, which others count on, would go with its only member.
 */
export async function addMember(
  tx: Transaction,
  now: Date,
  { organisationId, userId, role }: NewMember,
): Promise<void> {
  await tx.insert(memberships).values({ organisationId, userId, role, createdAt: now });
  await tx.update(users).set({ invitedOnly: false, provisioned: true }).where(eq(users.id, userId));
  await recordJoined(tx, now, { organisationId, userId });
}

/** Inserts an organisation. After a conflict of the slug another one is tried. */
async function insertOrganisation(
  tx: Transaction,
  now: Date,
  { id, wanted, name }: { id: string; wanted: string; name: string | null },
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const values = { id, slug: slugCandidate(wanted, attempt), name, createdAt: now };
    if ((await insertion(tx).execute(values)).length > 0) return;
  }
}

/** An organisation that an import makes. Without a slug it gets one from its name. */
type ImportedOrganisation = Omit<typeof organisations.$inferInsert, 'slug'> & { name: string; slug: string | null };

/** Inserts organisations and returns their slugs by id. One whose own slug is taken is left out. */
export async function insertOrganisations(tx: Transaction, rows: ImportedOrganisation[]): Promise<Map<string, string>> {
  const slugs = new Map<string, string>();
  let left = rows;
  for (let attempt = 0; left.length > 0; attempt++) {
    const values = left.map((row) => ({ ...row, slug: row.slug ?? slugCandidate(slugFrom(row.name), attempt) }));
    const made = await tx
      .insert(organisations)
      .values(values)
      .onConflictDoNothing({ target: organisations.slug })
      .returning({ id: organisations.id, slug: organisations.slug });
    for (const { id, slug } of made) slugs.set(id, slug);
    left = left.filter(({ id, slug }) => slug === null && !slugs.has(id));
  }
  return slugs;
}

const insertion = prepared((db) =>
  db
    .insert(organisations)
    .values({
      id: sql.placeholder('id'),
      slug: sql.placeholder('slug'),
      name: sql.placeholder('name'),
      createdAt: sql.placeholder('createdAt'),
    })
    .onConflictDoNothing({ target: organisations.slug })
    .returning({ id: organisations.id })
    .prepare('organisation_create'),
);

const longestSlug = 40;

/** Returns the slug for a name: lower-case letters, digits and single hyphens. */
function slugFrom(text: string): string {
  const slug = text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, longestSlug)
    .replace(/^-+|-+$/g, '');
  // A text in the form of an id is read as one everywhere.
  return slug === '' || isUuid(slug) ? 'organisation' : slug;
}

/** Returns the slug itself for the first attempt, and with a random number for later ones. */
function slugCandidate(slug: string, attempt: number): string {
  return attempt === 0 ? slug : `${slug}-${randomInt(100_000, 1_000_000)}`;
}

/** Changes an organisation's name, or removes it, and derives the slug from it. The same name leaves the slug. */
export async function renameOrganisation(
  tx: Transaction,
  now: Date,
  { id, name, email }: { id: string; name: string | null; email: string },
): Promise<void> {
  const [before] = await tx.select({ name: organisations.name }).from(organisations).where(eq(organisations.id, id));
  if (before === undefined || before.name === name) return;
  const wanted = slugFrom(name ?? email.slice(0, email.indexOf('@')));

  for (let attempt = 0; ; attempt++) {
    const slug = slugCandidate(wanted, attempt);
    // In a savepoint, because a conflict of the slug would otherwise abort the whole transaction.
    try {
      await tx.transaction((savepoint) =>
        savepoint.update(organisations).set({ name, slug }).where(eq(organisations.id, id)),
      );
      return recordChange(tx, now, { type: 'organisation.renamed', organisationId: id, data: { slug, name } });
    } catch (error) {
      if (!isSqlState(error, '23505')) throw error;
    }
  }
}

/**
 * Locks an organisation's row until the transaction ends, so that changes of its billing and members
 * run in turn. New memberships are not blocked by the lock itself. Must not be held during a request
 * to the provider.
 *
 * @returns false if there is no such organisation.
 */
export async function lockOrganisation(tx: Transaction, organisationId: string): Promise<boolean> {
  const rows = await organisationRow(tx).execute({ organisationId });
  return rows.length > 0;
}

const organisationRow = prepared((db) =>
  db
    .select({ id: organisations.id })
    .from(organisations)
    .where(eq(organisations.id, sql.placeholder('organisationId')))
    .for('no key update')
    .prepare('payment_lock_organisation'),
);

/**
 * Locks the rows of several organisations, as `lockOrganisation` does, in the order of their ids.
 *
 * @returns the ids of those that exist.
 */
export async function lockOrganisations(tx: Transaction, ids: string[]): Promise<string[]> {
  const rows = await tx
    .select({ id: organisations.id })
    .from(organisations)
    .where(inArray(organisations.id, ids))
    .orderBy(asc(organisations.id))
    .for('no key update');
  return rows.map(({ id }) => id);
}

/**
 * Deletes those of the given organisations that have no member left, including approved ones, so
 * that their slugs are free again. To be called only with the organisations of users who never
 * verified their address: an organisation that lost its last member for another reason stays, and so does one that an
 * API key or an import made, or that the payment provider knows.
 */
export async function deleteWithoutMembers(tx: Transaction, organisationIds: string[]): Promise<void> {
  // A concurrent join waits for this lock and then finds no organisation; a membership that was committed before
  // is counted.
  const locked = await tx
    .select({ id: organisations.id })
    .from(organisations)
    .where(inArray(organisations.id, organisationIds))
    .orderBy(organisations.id)
    .for('update');

  for (const { id } of locked) {
    const members = await tx.$count(memberships, eq(memberships.organisationId, id));
    if (members > 0 || (await isKnownToProvider(tx, id))) continue;
    await tx.delete(organisations).where(and(eq(organisations.id, id), eq(organisations.provisioned, false)));
  }
}

/** Whether the payment provider may still charge for a subscription that only the organisation's rows identify. */
export async function isKnownToProvider(tx: Transaction, id: string): Promise<boolean> {
  const customers = await tx.$count(paymentCustomers, eq(paymentCustomers.organisationId, id));
  return customers + (await tx.$count(paymentSubscriptions, eq(paymentSubscriptions.organisationId, id))) > 0;
}
