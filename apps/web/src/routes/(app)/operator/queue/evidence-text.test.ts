import { expect, test } from 'vitest';
import { evidenceText } from './evidence-text.ts';

test.each([
  [{ code: 'joined_nothing' }, 'warn', 'Invited, joined nothing'],
  [{ code: 'identity_provider' }, 'good', 'Signed in through the identity provider'],
  [{ code: 'mail_opened', after_seconds: 0 }, 'plain', 'Confirmed in 1 second'],
  [{ code: 'mail_opened', after_seconds: 119 }, 'plain', 'Confirmed in 119 seconds'],
  [{ code: 'mail_opened', after_seconds: 120 }, 'plain', 'Confirmed in 2 minutes'],
  [{ code: 'mail_opened', after_seconds: 7200 }, 'plain', 'Confirmed in 2 hours'],
  [{ code: 'same_browser' }, 'good', 'Same browser'],
  [{ code: 'another_browser' }, 'warn', 'Different browser'],
  [sameDomain(1), 'plain', 'One other account at company.example'],
  [sameDomain(3), 'plain', '3 other accounts at company.example'],
  [{ ...sameDomain(100), more: true }, 'plain', '100+ other accounts at company.example'],
] as const)('the badge of %o has the tone %s and the text "%s"', (evidence, tone, text) => {
  expect(evidenceText(evidence)).toEqual({ tone, text });
});

function sameDomain(count: number) {
  return { code: 'same_domain', count, more: false, domain: 'company.example' } as const;
}
