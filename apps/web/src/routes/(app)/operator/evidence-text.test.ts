import { expect, test } from 'vitest';
import { evidenceText } from './evidence-text.ts';

test.each([
  [{ code: 'joined_nothing' }, 'warn', 'Invited, joined nothing'],
  [{ code: 'identity_provider' }, 'good', 'Signed in through the identity provider'],
  [{ code: 'mail_opened', after_seconds: 0 }, 'plain', 'Opened the mail after 1 s'],
  [{ code: 'mail_opened', after_seconds: 119 }, 'plain', 'Opened the mail after 119 s'],
  [{ code: 'mail_opened', after_seconds: 120 }, 'plain', 'Opened the mail after 2 minutes'],
  [{ code: 'mail_opened', after_seconds: 7200 }, 'plain', 'Opened the mail after 2 hours'],
  [{ code: 'same_browser' }, 'good', 'Same browser'],
  [{ code: 'another_browser' }, 'warn', 'Another browser'],
  [{ code: 'same_domain', count: 3, domain: 'company.example' }, 'plain', '3 more from company.example'],
] as const)('the badge of %o has the tone %s and the text "%s"', (evidence, tone, text) => {
  expect(evidenceText(evidence)).toEqual({ tone, text });
});
