import { AppError } from '../errors.ts';
import type { Gate } from '../organisations/account-status.ts';
import type { PlanFacts } from '../organisations/plan-facts.ts';

export type Scope = 'READ' | 'WRITE' | 'ADMIN';
export type Role = 'owner' | 'admin' | 'member' | 'viewer';

/** Who asks, for which organisation, and what they may do there. Read anew on each request. */
export type Principal = {
  user: { id: string; email: string; name: string | null; operator: boolean; onboardedAt: Date | null };
  organisation: { id: string; slug: string; name: string | null } | null;
  /** The same as organisation.id. */
  organisationId: string | null;
  role: Role | null;
  /** What the role grants; nothing while a gate is shut. */
  scopes: Scope[];
  gate: Gate;
  /** Names the session on /account; opens nothing. */
  sessionId: string;
  /** What billing reads the organisation's plan from; null where there is nothing. */
  planFacts: PlanFacts | null;
  /** @throws AppError AWAITING_APPROVAL while a gate is shut, FORBIDDEN without the scope. */
  require: (scope: Scope) => void;
};

const scopesOf: Record<Role, Scope[]> = {
  owner: ['READ', 'WRITE', 'ADMIN'],
  admin: ['READ', 'WRITE', 'ADMIN'],
  member: ['READ', 'WRITE'],
  viewer: ['READ'],
};

export function makePrincipal(
  facts: Pick<Principal, 'user' | 'organisation' | 'role' | 'gate' | 'sessionId'> &
    Partial<Pick<Principal, 'planFacts'>>,
): Principal {
  const scopes = facts.gate === 'open' && facts.role !== null ? scopesOf[facts.role] : [];

  return {
    ...facts,
    planFacts: facts.planFacts ?? null,
    organisationId: facts.organisation?.id ?? null,
    scopes,
    require(scope) {
      requireOpenGates(facts.gate);
      if (!scopes.includes(scope)) throw new AppError('FORBIDDEN', 'Your role does not allow this.');
    },
  };
}

function requireOpenGates(gate: Gate): void {
  if (gate !== 'open') throw new AppError('AWAITING_APPROVAL', 'This account is awaiting approval.');
}

/** @throws AppError UNAUTHENTICATED where nobody is signed in. */
export function requirePrincipal(principal: Principal | null): Principal {
  if (principal === null) throw new AppError('UNAUTHENTICATED', 'Sign in first.');
  return principal;
}

/** @throws AppError UNAUTHENTICATED where nobody is signed in, AWAITING_APPROVAL while a gate is shut. */
export function requireApproved(principal: Principal | null): Principal {
  const who = requirePrincipal(principal);
  requireOpenGates(who.gate);
  return who;
}

/** @throws AppError UNAUTHENTICATED, AWAITING_APPROVAL or FORBIDDEN, in that order. */
export function requireScope(principal: Principal | null, scope: Scope): Principal {
  const who = requirePrincipal(principal);
  who.require(scope);
  return who;
}

/** @throws AppError where nobody is signed in, a gate is shut, or the person is no operator. */
export function requireOperator(principal: Principal | null): Principal {
  const who = requireApproved(principal);
  if (!who.user.operator) throw new AppError('FORBIDDEN', 'Only operators may do this.');
  return who;
}

/**
 * The organisation that the principal acts for.
 *
 * @throws AppError NO_ORGANISATION with the interface's message (§7).
 */
export function organisationOf(principal: Principal): NonNullable<Principal['organisation']> {
  if (principal.organisation === null) {
    throw new AppError('NO_ORGANISATION', 'This account is not scoped to an organisation.');
  }
  return principal.organisation;
}
