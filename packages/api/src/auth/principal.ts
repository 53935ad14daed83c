import { type AccountStatus, type Approval, requireApprovedOrganisation } from '../organisations/account-status.ts';
import type { PlanRow } from '../organisations/plan.ts';
import { AppError } from '../platform/errors.ts';
import { message } from '../platform/messages.ts';
import type { RequiredBy } from './factors/who-must.ts';
import { type KeyScope, scopesOfKey } from './key-format.ts';

/** What the role of a member may give. */
export type RoleScope = 'READ' | 'WRITE' | 'ADMIN';
export type Scope = RoleScope | KeyScope;
export type Role = 'owner' | 'admin' | 'member' | 'viewer';

/** What every principal has, whatever it was resolved from: an organisation and its scopes there. */
export type Authority = {
  organisation: { id: string; slug: string; name: string | null } | null;
  /** The same as organisation.id. */
  organisationId: string | null;
  /** A scope never comes without the weaker ones: ADMIN and MANAGE include WRITE, WRITE includes READ. */
  scopes: Scope[];
  /** The organisation's plan as it is stored, for `currentPlan`. */
  planRow: PlanRow | null;
  /**
   * @throws AppError AWAITING_APPROVAL while the account awaits approval; FORBIDDEN without the scope, and for a key of
   *   a closed organisation.
   */
  require: (scope: Scope) => void;
  /**
   * Returns the organisation that the principal acts for.
   *
   * @throws AppError NO_ORGANISATION, with the interface's message (§7), if there is none.
   */
  requireOrganisation: () => NonNullable<Authority['organisation']>;
};

/** The principal of a session, read again for each request. */
export type UserPrincipal = Authority & {
  kind: 'user';
  user: { id: string; email: string; name: string | null; operator: boolean; onboardedAt: Date | null };
  role: Role | null;
  /** Sessions of unverified and closed accounts have no principal. */
  accountStatus: Exclude<AccountStatus, 'unverified' | 'closed'>;
  /** Identifies the session on /account. It does not authenticate. */
  sessionId: string;
  /** Whether the request presented the shared cookie, by which a product on a sibling host may ask but not act. */
  isShared: boolean;
  /** The hash of the session's shared token; null where it has none. */
  sharedHash: string | null;
  /** Whether the user can confirm who they are by a password. */
  hasPassword: boolean;
  /** Until when the session is fresh (see fresh-sign-in.ts); null if it never was. */
  freshUntil: Date | null;
  /** Whether it became fresh by a factor of the account's own. */
  freshByFactor: boolean;
  /** Whether an identity of the provider opened the session, and no password was given in it for an open review. */
  byIdentity: boolean;
  /** Whether an identity of the provider was the session's second factor. */
  identityFactor: boolean;
  /** Whether the account has a second factor, usable or not. */
  hasFactor: boolean;
  /** Whether one of them is a passkey. */
  hasPasskey: boolean;
  /** Who requires a second factor that the user has yet to set up or to give; null if nothing is missing. */
  factorMissing: RequiredBy | null;
  /** Whether the user has the power of an operator: the mark, and a second factor in time where one is required. */
  operates: boolean;
  /** Whether the user has yet to review the account's factors: a link set the password or the address. */
  reviewPending: boolean;
};

/**
 * The principal of an API key, read again for each request. It has no user. Its organisation is
 * null for a key of the deployment, which may name any organisation.
 */
export type KeyPrincipal = Authority & {
  kind: 'key';
  key: {
    id: string;
    name: string;
    /** Whether an operator made it, not an administrator of its organisation. */
    byOperator: boolean;
    /** The user who made or kept it; null for an admin command, and after that account was deleted. */
    createdBy: string | null;
    /** Whether it may make password links. */
    passwordLinks: boolean;
  };
};

/**
 * The resolved caller of a request. Use cases that need a user name UserPrincipal, so they do not
 * accept a key.
 */
export type Principal = UserPrincipal | KeyPrincipal;

const scopesOf: Record<Role, RoleScope[]> = {
  owner: ['READ', 'WRITE', 'ADMIN'],
  admin: ['READ', 'WRITE', 'ADMIN'],
  member: ['READ', 'WRITE'],
  viewer: ['READ'],
};

/** What a session's row says of its principal; the rest follows from it. */
export type UserFacts = Omit<UserPrincipal, 'kind' | 'organisationId' | 'scopes' | 'require' | 'requireOrganisation'>;

/** Returns the principal of a session. It has the scopes of the role, and none while the account awaits approval. */
export function makePrincipal(facts: UserFacts): UserPrincipal {
  const { accountStatus, role, organisation, factorMissing } = facts;
  const scopes: Scope[] = accountStatus === 'active' && role !== null && factorMissing === null ? scopesOf[role] : [];

  return {
    ...facts,
    kind: 'user',
    organisationId: organisation?.id ?? null,
    scopes,
    require(scope) {
      requireActive(accountStatus);
      if (factorMissing !== null) throw factorSetup();
      if (!scopes.includes(scope)) throw new AppError('FORBIDDEN', message('role_forbids'));
    },
    requireOrganisation,
  };
}

/**
 * Returns the principal of a key. It has the scopes of the key, and none while its organisation is
 * closed or awaits approval. `approval` is null for a key of the deployment.
 */
export function makeKeyPrincipal({
  scope,
  approval,
  ...facts
}: Pick<KeyPrincipal, 'key' | 'organisation' | 'planRow'> & {
  scope: KeyScope;
  approval: Approval | null;
}): KeyPrincipal {
  const open = approval === null || approval === 'approved';
  const scopes: Scope[] = open ? scopesOfKey(scope) : [];

  return {
    ...facts,
    kind: 'key',
    organisationId: facts.organisation?.id ?? null,
    scopes,
    require(needed) {
      if (approval !== null) requireApprovedOrganisation(approval);
      if (!scopes.includes(needed)) throw new AppError('FORBIDDEN', `This API key does not have the scope ${needed}.`);
    },
    requireOrganisation,
  };
}

/** @throws AppError AWAITING_APPROVAL while the account awaits approval. */
function requireActive(accountStatus: UserPrincipal['accountStatus']): void {
  if (accountStatus !== 'active') throw new AppError('AWAITING_APPROVAL', message('account_awaits_approval'));
}

function requireOrganisation(this: Authority): NonNullable<Authority['organisation']> {
  if (this.organisation === null) {
    throw new AppError('NO_ORGANISATION', message('account_without_organisation'), {
      pageText: message('account_in_no_organisation'),
    });
  }
  return this.organisation;
}

/** Returns the AppError for a session whose user must set up a second factor first. */
function factorSetup(): AppError {
  return new AppError('SECOND_FACTOR_SETUP', message('set_up_factor_first'));
}

/** @throws AppError SECOND_FACTOR_SETUP in a session whose user must set up a second factor first. */
export function requireFactor(principal: Principal): void {
  if (principal.kind === 'user' && principal.factorMissing !== null) throw factorSetup();
}

declare const passed: unique symbol;

/** Marks a principal that has passed checks. Only the checks below return one. */
type Passed<Check extends Scope | 'approved' | 'operator' | 'deployment'> = { readonly [passed]: Record<Check, true> };

/** What a scope implies. */
type Implied = {
  READ: 'approved' | 'READ';
  WRITE: 'approved' | 'READ' | 'WRITE';
  ADMIN: 'approved' | 'READ' | 'WRITE' | 'ADMIN';
  MANAGE: 'approved' | 'READ' | 'WRITE' | 'MANAGE';
};

/**
 * A principal of any kind that holds a scope, for use cases that need no user. They must take
 * the organisation from `requireOrganisation`, or compare what the input names with it.
 */
export type Holding<Held extends Scope> = Authority & Passed<Implied[Held]>;

/** A key of the deployment. */
export type ForDeployment = KeyPrincipal & Holding<'READ'> & Passed<'deployment'>;
/** A user whose gates are both open. */
export type Approved = UserPrincipal & Passed<'approved'>;
/** A user with the scope READ. */
export type Reader = UserPrincipal & Holding<'READ'>;
/** A user with the scope ADMIN. */
export type Administrator = UserPrincipal & Holding<'ADMIN'>;
/** An approved user with the mark of an operator. */
export type Operator = UserPrincipal & Passed<'approved' | 'operator'>;

/**
 * Returns the principal of a request, by default one of a session or key.
 *
 * @throws AppError UNAUTHENTICATED without one, with a sentence that says what the request lacks.
 */
export function requirePrincipal(
  principal: Principal | null,
  lacking: 'send_key_or_sign_in' | 'send_key' | 'sign_in_first' = 'send_key_or_sign_in',
): Principal {
  if (principal === null) throw new AppError('UNAUTHENTICATED', message(lacking));
  return principal;
}

/**
 * Returns the signed-in user of a request, who may still await approval.
 *
 * @throws AppError UNAUTHENTICATED without a session; FORBIDDEN or AWAITING_APPROVAL for a key.
 */
export function requireUser(principal: Principal | null): UserPrincipal {
  const caller = requirePrincipal(principal, 'sign_in_first');
  if (caller.kind === 'user') return caller;

  caller.require('READ');
  throw new AppError('FORBIDDEN', 'An API key may not do this: it needs a signed-in user.');
}

/** Returns the user as an approved one. @throws AppError AWAITING_APPROVAL while the account awaits approval. */
export function requireApproved(user: UserPrincipal): Approved {
  requireActive(user.accountStatus);
  return user as Approved;
}

/**
 * Returns the principal as one that holds the scope. The scope is the request's: a use case
 * that must not act on a role that has changed since checks it again under its own lock.
 *
 * @throws AppError as `require` of the principal.
 */
export function requireScope<Kind extends Authority, Held extends Scope>(
  principal: Kind,
  scope: Held,
): Kind & Holding<Held> {
  principal.require(scope);
  return principal as Kind & Holding<Held>;
}

/**
 * Returns the principal as one that may read every organisation: a key of the deployment.
 *
 * @throws AppError FORBIDDEN for a session and for an organisation's key.
 */
export function requireDeployment(principal: Principal & Holding<'READ'>): ForDeployment {
  if (principal.kind === 'key' && principal.organisation === null) return principal as ForDeployment;
  throw new AppError('FORBIDDEN', 'This needs an API key of the deployment.');
}

/** A key with the scope WRITE, which only keys need: sessions read usage, they do not write it. */
export type WritingKey = KeyPrincipal & Holding<'WRITE'>;

/**
 * Returns the principal as a key that writes usage. The numbers by which an organisation's limits are judged come from
 * the services, never from a session of one of its members.
 *
 * @throws AppError FORBIDDEN for a session.
 */
export function requireWritingKey(principal: Principal & Holding<'WRITE'>): WritingKey {
  if (principal.kind === 'key') return principal as WritingKey;
  throw new AppError('FORBIDDEN', 'This needs an API key.');
}

/**
 * Returns the key as one that may state what was used: of the deployment, or made by an operator for its organisation.
 *
 * @throws AppError FORBIDDEN for a key that an organisation's administrators made.
 */
export function requireOperatorsKey(principal: WritingKey): WritingKey {
  if (principal.organisation === null || principal.key.byOperator) return principal;
  throw new AppError('FORBIDDEN', 'This needs an API key that an operator made.');
}

/** A key of the deployment that manages users and organisations, as an operator does in the console. */
export type ManagingKey = KeyPrincipal & Holding<'MANAGE'> & Passed<'deployment'>;

/**
 * Returns the principal as a key that manages. Only a key of the deployment can have the scope, by constraint.
 *
 * @throws AppError FORBIDDEN for a session and for every other key, and as `require` of the principal.
 */
export function requireManagingKey(principal: Principal): ManagingKey {
  principal.require('READ');
  if (principal.kind !== 'key') throw new AppError('FORBIDDEN', 'This needs an API key with the scope MANAGE.');
  principal.require('MANAGE');
  return principal as ManagingKey;
}

/** Returns the user as an operator. @throws AppError FORBIDDEN without the power of an operator's mark. */
export function requireOperator(user: Approved): Operator {
  if (!user.operates) throw new AppError('FORBIDDEN', message('operators_only'));
  return user as Operator;
}
