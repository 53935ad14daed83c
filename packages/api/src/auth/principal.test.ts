import { describe, expect, expectTypeOf, it } from 'vitest';
import { principalOf } from '../testing/principal.ts';
import {
  type Administrator,
  type Approved,
  type Authority,
  type Holding,
  type Operator,
  type Reader,
  type Role,
  requireApproved,
  requireOperator,
  requireScope,
  requireUser,
  type Scope,
  type UserPrincipal,
} from './principal.ts';

function make({
  role = 'owner' as Role | null,
  accountStatus = 'active' as UserPrincipal['accountStatus'],
  operator = false,
} = {}) {
  const user = { id: 'user', email: 'user@company.example', name: null, operator, onboardedAt: null };
  const organisation = role && { id: 'organisation', slug: 'company', name: null };
  return principalOf({ user, organisation, role, accountStatus, sessionId: 'session' });
}

const scopes: Record<Role, Scope[]> = {
  owner: ['READ', 'WRITE', 'ADMIN'],
  admin: ['READ', 'WRITE', 'ADMIN'],
  member: ['READ', 'WRITE'],
  viewer: ['READ'],
};

describe.each(Object.entries(scopes))('the role %s', (role, held) => {
  it.each(['READ', 'WRITE', 'ADMIN'] as const)('passes the check of %s if the role grants it', (scope) => {
    const check = () => requireScope(make({ role: role as Role }), scope);
    if (held.includes(scope)) expect(check().role).toBe(role);
    else expect(check).toThrowError(expect.objectContaining({ code: 'FORBIDDEN' }));
  });

  it('gives with a scope also the weaker ones, as the types say', () => {
    const { scopes } = make({ role: role as Role });
    expect(scopes).toEqual((['READ', 'WRITE', 'ADMIN'] as const).slice(0, scopes.length));
  });
});

it('checks the session before the gates, and the gates before scope and mark', () => {
  expect(() => requireUser(null)).toThrowError(expect.objectContaining({ code: 'UNAUTHENTICATED' }));

  const waiting = make({ role: 'viewer', accountStatus: 'awaiting_approval', operator: true });
  expect(requireUser(waiting)).toBe(waiting);
  const awaiting = expect.objectContaining({ code: 'AWAITING_APPROVAL' });
  expect(() => requireApproved(waiting)).toThrowError(awaiting);
  expect(() => requireScope(waiting, 'ADMIN')).toThrowError(awaiting);
});

it('gives a user without a role no scope', () => {
  expect(() => requireScope(make({ role: null }), 'READ')).toThrowError(expect.objectContaining({ code: 'FORBIDDEN' }));
});

it('recognises operators only by their mark', () => {
  expect(requireOperator(requireApproved(make({ role: 'viewer', operator: true }))).user.operator).toBe(true);
  expect(() => requireOperator(requireApproved(make()))).toThrowError(expect.objectContaining({ code: 'FORBIDDEN' }));
});

it('gives a stronger authority wherever a weaker one is needed, never the reverse', () => {
  expectTypeOf<Administrator>().toExtend<Reader>();
  expectTypeOf<Reader>().toExtend<Approved>();
  expectTypeOf<Operator>().toExtend<Approved>();
  expectTypeOf<Approved>().toExtend<UserPrincipal>();

  expectTypeOf<UserPrincipal>().not.toExtend<Approved>();
  expectTypeOf<Approved>().not.toExtend<Reader>();
  expectTypeOf<Approved>().not.toExtend<Operator>();
  expectTypeOf<Reader>().not.toExtend<Administrator>();
  expectTypeOf<Administrator>().not.toExtend<Operator>();
  expectTypeOf<Operator>().not.toExtend<Reader>();
});

it('gives a scope without a user, but no authority of a user', () => {
  expectTypeOf<Administrator>().toExtend<Holding<'WRITE'>>();
  expectTypeOf<Authority>().not.toExtend<Holding<'READ'>>();
  expectTypeOf<Holding<'READ'>>().not.toExtend<Reader>();
  expectTypeOf<Holding<'READ'>>().not.toExtend<Holding<'WRITE'>>();
});
