import { and, eq, inArray } from 'drizzle-orm';
import type { Executor } from '../db/client.ts';
import { users } from '../db/schema/accounts.ts';
import { memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import { AppError } from '../errors.ts';
import { readAddress } from '../security/address.ts';

const isId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Returns the user with an address, as an operator types it, or with an id. The text as it
 * is comes before its normal form: a row that could not be normalised (doctor-addresses.ts)
 * must never lead to the account whose address it looks like.
 *
 * @throws AppError NOT_FOUND
 */
export async function findUser(db: Executor, typed: string) {
  const wanted = isId.test(typed)
    ? eq(users.id, typed)
    : inArray(
        users.email,
        [typed, readAddress(typed)].filter((email) => email !== null),
      );
  const found = await db.select().from(users).where(wanted);
  const person = found.find(({ email }) => email === typed) ?? found[0];
  if (person === undefined) throw new AppError('NOT_FOUND', `There is no account with the address ${typed}.`);
  return person;
}

/** The organisations that a person owns. @throws AppError NOT_FOUND where there are none */
export async function findOwnedOrganisations(db: Executor, { id, email }: { id: string; email: string }) {
  const owned = await db
    .select({ id: organisations.id, slug: organisations.slug, suspendedAt: organisations.suspendedAt })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(and(eq(memberships.userId, id), eq(memberships.role, 'owner')));
  if (owned.length === 0) throw new AppError('NOT_FOUND', `${email} owns no organisation.`);
  return owned;
}

/** @throws AppError NOT_FOUND */
export async function findOrganisation(db: Executor, slug: string) {
  const [organisation] = await db.select().from(organisations).where(eq(organisations.slug, slug));
  if (organisation === undefined) throw new AppError('NOT_FOUND', `There is no organisation with the slug ${slug}.`);
  return organisation;
}
