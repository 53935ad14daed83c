import { expect, it } from 'vitest';
import { accountStatusOf } from './account-status.ts';

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
