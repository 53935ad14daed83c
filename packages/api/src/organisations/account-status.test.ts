import { describe, expect, it } from 'vitest';
import { accountStatusOf, isApprovedDomain } from './account-status.ts';

const then = new Date(0);
const verified = { emailVerifiedAt: then, suspendedAt: null, invitedOnly: false };
const invited = { ...verified, invitedOnly: true };
const unverified = { ...verified, emailVerifiedAt: null };
const suspended = { ...verified, suspendedAt: then };
const approved = { approval: 'approved', suspendedAt: null } as const;
const pending = { approval: 'pending', suspendedAt: null } as const;
const declined = { approval: 'declined', suspendedAt: null } as const;
const closed = { approval: 'approved', suspendedAt: then } as const;

it.each([
  [verified, approved, 'active'],
  [verified, null, 'active'],
  [invited, null, 'awaiting_approval'],
  [invited, approved, 'active'],
  [verified, pending, 'awaiting_approval'],
  [unverified, pending, 'unverified'],
  [unverified, approved, 'unverified'],
  [verified, declined, 'closed'],
  [verified, closed, 'closed'],
  [unverified, declined, 'closed'],
  [suspended, approved, 'closed'],
  [suspended, null, 'closed'],
] as const)('%j with %j is %s', (user, organisation, accountStatus) => {
  expect(accountStatusOf(user, organisation)).toBe(accountStatus);
});

describe.each([
  [['company.example'], 'a@company.example', true],
  [['other.example', 'company.example'], 'a@company.example', true],
  [['*'], 'a@anywhere.example', true],
  [[], 'a@company.example', false],
  [['company.example'], 'a@sub.company.example', false],
  [['company.example'], 'a@notcompany.example', false],
  [['company.example'], 'a@company.example.evil.example', false],
  [['sub.company.example'], 'a@company.example', false],
  [['*.company.example'], 'a@sub.company.example', false],
])('with APPROVED_DOMAINS %j', (approvedDomains, email, approved) => {
  it(`${email} is ${approved ? '' : 'not '}approved`, () => {
    expect(isApprovedDomain({ config: { approvedDomains } } as never, email)).toBe(approved);
  });
});
