import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { type AccountStatus, accountStatusOf } from '../../organisations/account-status.ts';
import type { Executor } from '../../platform/db/client.ts';
import { prepared } from '../../platform/db/client.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { currentOrganisation } from './current-organisation.ts';

export type Account = NonNullable<Awaited<ReturnType<typeof readAccount>>>;

/** Returns the user with an address, with the user's organisation and account status; null if there is none. */
export function accountByEmail(db: Executor, email: string) {
  return readAccount(byEmail(db).execute({ value: email }));
}

/** Returns the user with an id, as `accountByEmail` does. */
export function accountById(db: Executor, id: string) {
  return readAccount(byId(db).execute({ value: id }));
}

const byEmail = prepared((db) => select(db, eq(users.email, sql.placeholder('value'))).prepare('account_by_email'));
const byId = prepared((db) => select(db, eq(users.id, sql.placeholder('value'))).prepare('account_by_id'));

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

async function readAccount(rows: ReturnType<ReturnType<typeof byEmail>['execute']>) {
  const [row] = await rows;
  if (row === undefined) return null;

  const { user, organisationId, approval, organisationSuspendedAt } = row;
  const organisation =
    organisationId === null || approval === null
      ? null
      : { id: organisationId, approval, suspendedAt: organisationSuspendedAt };
  const accountStatus: AccountStatus = accountStatusOf(user, organisation);
  return { user, organisationId, accountStatus };
}
