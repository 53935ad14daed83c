import { expect, test } from 'vitest';
import { auditText } from './audit-text.ts';

test.each([
  ['signed-out', null, 'Signed out'],
  ['plan-checkout', null, 'Checkout opened'],
  ['plan-cancelled', null, 'Cancellation of the plan scheduled'],
  ['organisation-approved', null, 'Organisation approved'],
  ['password-link-made', null, 'An operator made a password link'],
  ['role-changed', { from: 'member', to: 'admin' }, 'Role changed: member to admin'],
  ['of-a-newer-version', null, 'of-a-newer-version'],
  ['toString', null, 'toString'],
] as const)('the text of %s with the change %o is "%s"', (action, change, text) => {
  expect(auditText(action, change)).toBe(text);
});
