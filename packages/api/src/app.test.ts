import { expect, test } from 'vitest';
import { startTestApp } from './testing/app.ts';

test.each([
  ['off', true],
  ['on', false],
])('a start with RATE_LIMITS=%s warns: %s', async (limits, warns) => {
  const running = await startTestApp({ environment: { RATE_LIMITS: limits } });
  const warnings = running.logged.filter(({ level }) => level === 'warn').map(({ message }) => message);
  await running.close();
  expect(warnings.some((message) => message.startsWith('RATE_LIMITS is off'))).toBe(warns);
});
