import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { type AccountStatus, accountStatusOf, approvalOf } from '../../organisations/account-status.ts';
import { type Executor, prepared, type Transaction } from '../../platform/db/client.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { userHasFactor } from '../factors/has-factor.ts';
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
        reviewSince: users.reviewSince,
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
  return { user, organisationId, approval: organisation && approvalOf(organisation), accountStatus };
}

/**
 * Whether nobody has followed the account of a query on `users` up: it has no password, never had a subject, and no API key
 * or import made it. So its user never signed in, and a verified one was verified by whatever opens the links of mails.
 * Written as text for the reason that `hasFactor` gives; `onboarded_at`, which such an account lacks, keeps the index small
 * where everybody signs in through the identity provider.
 */
export const isUnclaimed = sql<boolean>`(users.password_hash is null and users.onboarded_at is null
  and not users.provisioned and not exists (select from identities where identities.user_id = users.id))`;

/** Whether a user's account is unclaimed, as `isUnclaimed` says. */
export async function isUserUnclaimed(db: Executor, userId: string): Promise<boolean> {
  return (await db.$count(users, and(eq(users.id, userId), isUnclaimed))) > 0;
}

type Proof = {
  userId: string;
  organisationId: string | null;
  /** The address that was typed with the password; absent for a sign-in without it. */
  email?: string | undefined;
  passwordHash: string | null;
  idpSubject: string | null;
};

/** What a sign-in needs to know of a locked account. */
export type LockedAccount = {
  organisationId: string | null;
  /** Since when that organisation requires a second factor; null if it does not. */
  secondFactorFrom: Date | null;
  hasFactor: boolean;
  operator: boolean;
};

/**
 * Locks an account whose user has proved who they are, the user before the organisation as every transaction does (see
 * lockUser), and checks it anew. The organisation's id is null if it was deleted meanwhile.
 *
 * @throws AppError UNAUTHENTICATED if the account is deleted or not verified, or its address or password was
 *   changed or its subject unlinked since the user proved it; FORBIDDEN if it is closed.
 */
export async function lockUnchangedAccount(tx: Transaction, proof: Proof): Promise<LockedAccount> {
  const { userId, organisationId, email, passwordHash, idpSubject } = proof;
  const wrong = () => new AppError('UNAUTHENTICATED', message('wrong_credentials'));
  const [user] = await lockedUser(tx).execute({ userId });
  if (user === undefined) throw wrong();
  if (email !== undefined && user.email !== email) throw wrong();
  if (passwordHash !== null && user.passwordHash !== passwordHash) throw wrong();
  if (idpSubject !== null && !(await isLinked(tx, userId, idpSubject))) throw wrong();

  const [organisation = null] = organisationId === null ? [] : await lockedOrganisation(tx).execute({ organisationId });
  const accountStatus = accountStatusOf(user, organisation);
  if (accountStatus === 'closed') throw new AppError('FORBIDDEN', message('account_closed'));
  if (accountStatus === 'unverified') throw wrong();
  // A second statement, because the one that waited for the lock read the other tables before it waited.
  const hasFactor = await userHasFactor(tx, userId);
  const { operator } = user;
  const { id = null, secondFactorFrom = null } = organisation ?? {};
  return { organisationId: id, secondFactorFrom, hasFactor, operator };
}

const lockedUser = prepared((db) =>
  db
    .select({
      email: users.email,
      passwordHash: users.passwordHash,
      emailVerifiedAt: users.emailVerifiedAt,
      suspendedAt: users.suspendedAt,
      invitedOnly: users.invitedOnly,
      operator: users.operator,
    })
    .from(users)
    .where(eq(users.id, sql.placeholder('userId')))
    .for('no key update')
    .prepare('session_user'),
);

const lockedOrganisation = prepared((db) =>
  db
    .select({
      id: organisations.id,
      approval: organisations.approval,
      suspendedAt: organisations.suspendedAt,
      secondFactorFrom: organisations.secondFactorFrom,
    })
    .from(organisations)
    .where(eq(organisations.id, sql.placeholder('organisationId')))
    .for('share')
    .prepare('session_organisation'),
);

async function isLinked(tx: Transaction, userId: string, subject: string): Promise<boolean> {
  const isOwn = and(eq(identities.userId, userId), eq(identities.subject, subject));
  return (await tx.$count(identities, and(isOwn, isNull(identities.unlinkedAt)))) > 0;
}

/**
 * Locks a user's row until the transaction ends. Every transaction that changes a user's
 * links, tokens, sign-ups or sessions calls this first, so that they run in turn and cannot
 * deadlock. A transaction that also locks an organisation locks the user first.
 *
 * @returns false if there is no such user.
 */
export async function lockUser(tx: Transaction, userId: string): Promise<boolean> {
  const rows = await tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('update');
  return rows.length > 0;
}
