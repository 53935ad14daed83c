import { AppError } from '../errors.ts';
import {
  type Authority,
  type KeyPrincipal,
  type Principal,
  requireOpenGates,
  type Scope,
  type UserPrincipal,
} from './principal.ts';

declare const passed: unique symbol;

/** Marks a principal that has passed checks. Only the functions of this file return one. */
type Passed<Check extends Scope | 'approved' | 'operator' | 'deployment'> = { readonly [passed]: Record<Check, true> };

/** What a scope implies. */
type Implied = {
  READ: 'approved' | 'READ';
  WRITE: 'approved' | 'READ' | 'WRITE';
  ADMIN: 'approved' | 'READ' | 'WRITE' | 'ADMIN';
};

/**
 * A principal of any kind that holds a scope, for use cases that need no user. They must take
 * the organisation from `organisationOf`, or compare what the input names with it.
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

/** Returns the principal of a request. @throws AppError UNAUTHENTICATED without a session or key. */
export function requirePrincipal(principal: Principal | null): Principal {
  if (principal === null) throw new AppError('UNAUTHENTICATED', 'Sign in first.');
  return principal;
}

/**
 * Returns the signed-in user of a request, who may still await approval.
 *
 * @throws AppError UNAUTHENTICATED without a session; FORBIDDEN or AWAITING_APPROVAL for a key.
 */
export function requireUser(principal: Principal | null): UserPrincipal {
  const caller = requirePrincipal(principal);
  if (caller.kind === 'user') return caller;

  caller.require('READ');
  throw new AppError('FORBIDDEN', 'An API key may not do this: it needs a signed-in user.');
}

/** Returns the user as one whose gates are open. @throws AppError AWAITING_APPROVAL while a gate is shut. */
export function requireApproved(user: UserPrincipal): Approved {
  requireOpenGates(user.gate);
  return user as Approved;
}

/**
 * Returns the principal as one that holds the scope. The scope is the request's: a use case
 * that must not act on a role that has changed since checks it again under its own lock.
 *
 * @throws AppError AWAITING_APPROVAL while a gate is shut, FORBIDDEN without the scope.
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

/** Returns the user as an operator. @throws AppError FORBIDDEN without the mark of an operator. */
export function requireOperator(user: Approved): Operator {
  if (!user.user.operator) throw new AppError('FORBIDDEN', 'Only operators may do this.');
  return user as Operator;
}
