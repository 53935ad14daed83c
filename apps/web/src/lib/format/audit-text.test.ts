import { expect, test } from 'vitest';
import { auditText } from './audit-text.ts';

test.each([
  ['signed-out', 'Signed out'],
  ['sign-in-failed', 'Sign-in with a wrong password'],
  ['password-check-failed', 'Wrong password entered while signed in'],
  ['plan-checkout', 'Checkout opened'],
  ['of-a-newer-version', 'of-a-newer-version'],
  ['toString', 'toString'],
] as const)('the text of %s is "%s"', (action, text) => {
  expect(auditText(action)).toBe(text);
});
