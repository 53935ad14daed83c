import { AppError } from '../errors.ts';
import type { Approval, Gate } from '../organisations/account-status.ts';
import type { PlanFacts } from '../organisations/plan-facts.ts';
import type { UsageFacts } from '../organisations/usage-facts.ts';

export type Scope = 'READ' | 'WRITE' | 'ADMIN';
export type Role = 'owner' | 'admin' | 'member' | 'viewer';

/** What every principal has, whatever it was resolved from: an organisation and its scopes there. */
export type Authority = {
  organisation: { id: string; slug: string; name: string | null } | null;
  /** The same as organisation.id. */
  organisationId: string | null;
  /** A scope never comes without the weaker ones: ADMIN includes WRITE, WRITE includes READ. */
  scopes: Scope[];
  /** The facts from which billing computes the organisation's plan; null if there are none. */
  planFacts: PlanFacts | null;
  /** @throws AppError AWAITING_APPROVAL while a gate is shut, FORBIDDEN without the scope. */
  require: (scope: Scope) => void;
};

/** The principal of a session, read again for each request. */
export type UserPrincipal = Authority & {
  kind: 'user';
  user: { id: string; email: string; name: string | null; operator: boolean; onboardedAt: Date | null };
  role: Role | null;
  gate: Gate;
  /** Names the session on /account. It does not authenticate. */
  sessionId: string;
  /** The facts of the organisation's usage, if the session was read with them. */
  usageFacts: UsageFacts | null;
};

/**
 * The principal of an API key, read again for each request. It has no user. Its organisation is
 * null for a key of the deployment, which may name any organisation.
 */
export type KeyPrincipal = Authority & {
  kind: 'key';
  key: { id: string; name: string };
};

/**
 * The resolved caller of a request. Use cases that need a user name UserPrincipal, so they do not
 * accept a key.
 */
export type Principal = UserPrincipal | KeyPrincipal;

const scopesOf: Record<Role, Scope[]> = {
  owner: ['READ', 'WRITE', 'ADMIN'],
  admin: ['READ', 'WRITE', 'ADMIN'],
  member: ['READ', 'WRITE'],
  viewer: ['READ'],
};

/** Returns the principal of a session. It has the scopes of the role, and none while a gate is shut. */
export function makePrincipal(
  facts: Pick<UserPrincipal, 'user' | 'organisation' | 'role' | 'gate' | 'sessionId'> &
    Partial<Pick<UserPrincipal, 'planFacts' | 'usageFacts'>>,
): UserPrincipal {
  const { gate, role, organisation } = facts;
  const scopes = gate === 'open' && role !== null ? scopesOf[role] : [];

  return {
    ...facts,
    kind: 'user',
    planFacts: facts.planFacts ?? null,
    usageFacts: facts.usageFacts ?? null,
    organisationId: organisation?.id ?? null,
    scopes,
    require(scope) {
      requireOpenGates(gate);
      if (!scopes.includes(scope)) throw new AppError('FORBIDDEN', 'Your role does not allow this.');
    },
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
}: Pick<KeyPrincipal, 'key' | 'organisation' | 'planFacts'> & {
  scope: 'READ' | 'WRITE';
  approval: Approval | null;
}): KeyPrincipal {
  const open = approval === null || approval === 'approved';
  const scopes: Scope[] = !open ? [] : scope === 'WRITE' ? ['READ', 'WRITE'] : ['READ'];

  return {
    ...facts,
    kind: 'key',
    organisationId: facts.organisation?.id ?? null,
    scopes,
    require(needed) {
      if (approval !== null) requireApprovedOrganisation(approval);
      if (!scopes.includes(needed)) throw new AppError('FORBIDDEN', `This API key does not have the scope ${needed}.`);
    },
  };
}

/**
 * Requires that an organisation is approved. `field` names the input that the error is about.
 *
 * @throws AppError FORBIDDEN if the organisation is closed, AWAITING_APPROVAL if it awaits approval.
 */
export function requireApprovedOrganisation(approval: Approval, field?: string): void {
  if (approval === 'approved') return;
  const closed = approval === 'closed';
  const sentence = closed ? 'This organisation is closed.' : 'This organisation is awaiting approval.';
  const detail = field === undefined ? {} : { fields: { [field]: sentence } };
  throw new AppError(closed ? 'FORBIDDEN' : 'AWAITING_APPROVAL', sentence, detail);
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
