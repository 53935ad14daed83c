import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../db/client.ts';
import { prepared } from '../db/client.ts';
import { identities, users } from '../db/schema.ts';
import { type Standing, standingOf } from '../organisations/approval.ts';
import { currentOrganisation } from './current-organisation.ts';

export type Person = NonNullable<Awaited<ReturnType<typeof readPerson>>>;

/** Somebody by address, with the organisation they would act for and where they stand. */
export function personByEmail(db: Executor, email: string) {
  return readPerson(byEmail(db).execute({ value: email }));
}

export function personById(db: Executor, id: string) {
  return readPerson(byId(db).execute({ value: id }));
}

const byEmail = prepared((db) => select(db, eq(users.email, sql.placeholder('value'))).prepare('person_by_email'));
const byId = prepared((db) => select(db, eq(users.id, sql.placeholder('value'))).prepare('person_by_id'));

function select(db: Executor, condition: SQL) {
  const organisation = currentOrganisation(db, sql`${users.id}`, sql`${users.lastOrganisationId}`);
  return db
    .select({
      user: {
        id: users.id,
        email: users.email,
        name: users.name,
        passwordHash: users.passwordHash,
        /** The linked subject at the identity provider. */
        idpSubject: identities.subject,
        operator: users.operator,
        emailVerifiedAt: users.emailVerifiedAt,
        invitedOnly: users.invitedOnly,
        suspendedAt: users.suspendedAt,
      },
      organisationId: organisation.id,
      approval: organisation.approval,
      organisationSuspendedAt: organisation.suspendedAt,
    })
    .from(users)
    .leftJoin(identities, and(eq(identities.userId, users.id), isNull(identities.unlinkedAt)))
    .leftJoinLateral(organisation, sql`true`)
    .where(condition);
}

async function readPerson(rows: ReturnType<ReturnType<typeof byEmail>['execute']>) {
  const [row] = await rows;
  if (row === undefined) return null;

  const { user, organisationId, approval, organisationSuspendedAt } = row;
  const organisation =
    organisationId === null || approval === null
      ? null
      : { id: organisationId, approval, suspendedAt: organisationSuspendedAt };
  const standing: Standing = standingOf(user, organisation);
  return { user, organisationId, standing };
}
