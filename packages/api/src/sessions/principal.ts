import { AppError } from '../errors.ts';
import type { Gate } from '../organisations/account-status.ts';
import type { PlanFacts } from '../organisations/plan-facts.ts';

export type Scope = 'READ' | 'WRITE' | 'ADMIN';
export type Role = 'owner' | 'admin' | 'member' | 'viewer';

/** What every principal has, whatever it was resolved from: an organisation and its scopes there. */
export type Authority = {
  organisation: { id: string; slug: string; name: string | null } | null;
  /** The same as organisation.id. */
  organisationId: string | null;
  /** A scope never comes without the weaker ones: ADMIN includes WRITE, WRITE includes READ. */
  scopes: Scope[];
  /** @throws AppError AWAITING_APPROVAL while a gate is shut, FORBIDDEN without the scope. */
  require: (scope: Scope) => void;
};

/** The principal of a session, read again for each request. */
export type UserPrincipal = Authority & {
  user: { id: string; email: string; name: string | null; operator: boolean; onboardedAt: Date | null };
  role: Role | null;
  gate: Gate;
  /** Names the session on /account. It does not authenticate. */
  sessionId: string;
  /** The facts from which billing computes the organisation's plan; null if there are none. */
  planFacts: PlanFacts | null;
};

/**
 * The resolved caller of a request. A kind of principal without a user joins this union, and
 * use cases that need a user do not accept it: they name UserPrincipal.
 */
export type Principal = UserPrincipal;

const scopesOf: Record<Role, Scope[]> = {
  owner: ['READ', 'WRITE', 'ADMIN'],
  admin: ['READ', 'WRITE', 'ADMIN'],
  member: ['READ', 'WRITE'],
  viewer: ['READ'],
};

/** Makes the principal of a session. It has the scopes of the role, and none while a gate is shut. */
export function makePrincipal(
  facts: Pick<UserPrincipal, 'user' | 'organisation' | 'role' | 'gate' | 'sessionId'> &
    Partial<Pick<UserPrincipal, 'planFacts'>>,
): UserPrincipal {
  const { gate, role, organisation } = facts;
  const scopes = gate === 'open' && role !== null ? scopesOf[role] : [];

  return {
    ...facts,
    planFacts: facts.planFacts ?? null,
    organisationId: organisation?.id ?? null,
    scopes,
    require(scope) {
      requireOpenGates(gate);
      if (!scopes.includes(scope)) throw new AppError('FORBIDDEN', 'Your role does not allow this.');
    },
  };
}

/** @throws AppError AWAITING_APPROVAL while a gate is shut. */
export function requireOpenGates(gate: Gate): void {
  if (gate !== 'open') throw new AppError('AWAITING_APPROVAL', 'This account is awaiting approval.');
}

/**
 * Returns the organisation that a principal acts for.
 *
 * @throws AppError NO_ORGANISATION, with the interface's message (§7), if there is none.
 */
export function organisationOf({ organisation }: Authority): NonNullable<Authority['organisation']> {
  if (organisation === null) {
    throw new AppError('NO_ORGANISATION', 'This account is not scoped to an organisation.');
  }
  return organisation;
}
