import { expect, test } from 'vitest';
import { verificationMail } from '../auth/verification/verification-mail.ts';
import { parseConfig } from './config.ts';
import { lifetimeText } from './durations.ts';
import { textsIn } from './texts.ts';

const { service } = parseConfig({});

test.each([
  [60, 'a minute'],
  [119, 'a minute'],
  [900, '15 minutes'],
  [3600, 'an hour'],
  [5400, '90 minutes'],
  [7199, '119 minutes'],
  [7200, '2 hours'],
  [9000, '2 hours'],
  [86_400, '24 hours'],
  [172_799, '47 hours'],
  [172_800, '2 days'],
  [216_000, '2 days'],
  [604_800, '7 days'],
])('a link that works for %i seconds works within %s, on its page as in its mail', (seconds, text) => {
  expect(lifetimeText(textsIn('en', 'date').within, seconds)).toBe(text);
  const link = { url: 'https://id.company.example/verify?token=abc', lifetimeSeconds: seconds };
  const mail = verificationMail(service, { to: 'jane@company.example', language: 'en', purpose: 'sign-up', ...link });
  expect(mail.text).toContain(`The link works once, within ${text}.`);
});
