import { and, asc, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import type { Approved, Reader } from '../auth/principal.ts';
import { chooseOrganisation } from '../auth/sessions/current-organisation.ts';
import { organisationField } from '../auth/sessions/require-same-organisation.ts';
import { approvalOf, basicColumns } from '../organisations/account-status.ts';
import { prepared } from '../platform/db/client.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { AppError, isSqlState } from '../platform/errors.ts';
import { message } from '../platform/messages.ts';

export const switchInput = z.object({ organisation_id: organisationField });

/**
 * Returns the organisations that the principal belongs to, in the order in which they joined.
 */
export async function listOwnOrganisations(app: App, principal: Approved) {
  const { user, organisationId } = principal;

  const rows = await organisationsOfUser(app.db).execute({ userId: user.id });
  return rows.map(({ approval, suspendedAt, ...organisation }) => ({
    ...organisation,
    current: organisation.id === organisationId,
    approval: approvalOf({ approval, suspendedAt }),
  }));
}

const organisationsOfUser = prepared((db) =>
  db
    .select({
      ...basicColumns,
      role: memberships.role,
    })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(eq(memberships.userId, sql.placeholder('userId')))
    .orderBy(asc(memberships.createdAt), asc(organisations.id))
    .prepare('organisations_of_user'),
);

/**
 * Makes the principal act for another of their organisations, from the next request on.
 *
 * @throws AppError NOT_FOUND if the principal is not a member of it, or it is not approved.
 */
export async function switchOrganisation(
  app: App,
  principal: Approved,
  { organisation_id: organisationId }: z.output<typeof switchInput>,
): Promise<void> {
  const { user, sessionId } = principal;

  const unknown = new AppError('NOT_FOUND', message('no_such_organisation'));
  const switched = app.db.transaction(async (tx) => {
    const [own] = await tx
      .select({ approval: organisations.approval, suspendedAt: organisations.suspendedAt })
      .from(memberships)
      .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
      .where(and(eq(memberships.userId, user.id), eq(memberships.organisationId, organisationId)));
    if (own === undefined || approvalOf(own) !== 'approved') throw unknown;
    await chooseOrganisation(tx, { userId: user.id, sessionId, organisationId });
  });
  await switched.catch((error: unknown) => {
    // The organisation was deleted after it was read. A lock on it before the user's could deadlock with the deletion.
    throw isSqlState(error, '23503') ? unknown : error;
  });
}

/**
 * Returns the settings of the principal's organisation. Only administrators read the billing name and e-mail address.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND if the organisation was deleted meanwhile.
 */
export async function readOrganisation(app: App, principal: Reader) {
  const { id } = principal.requireOrganisation();

  const [row] = await app.db.select().from(organisations).where(eq(organisations.id, id));
  if (row === undefined) throw new AppError('NOT_FOUND', message('no_such_organisation'));
  return {
    id,
    slug: row.slug,
    name: row.name,
    created_at: row.createdAt.toISOString(),
    billing_email: principal.scopes.includes('ADMIN') ? row.billingEmail : null,
    billing_name: principal.scopes.includes('ADMIN') ? row.billingName : null,
    billing_address: principal.scopes.includes('ADMIN') ? row.billingAddress : null,
  };
}
