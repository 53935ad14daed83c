import { readSession, startSession } from '@gatehouse/api/auth/sessions/session';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { makeOwner, testClient } from '@gatehouse/api/testing/factories';
import { makeKey } from '@gatehouse/api/testing/keys';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hasRecentToken } from './router-context.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

it('a session or key counts as recent once it was read, an invented one never', async () => {
  const { userId, organisationId } = await makeOwner(test);
  const session = await startSession(test.app, { userId, organisationId, client: testClient });
  const headers = { cookie: `language=en; session=${session}` };
  expect(hasRecentToken(test.app, headers)).toBe(false);
  await readSession(test.app, session);
  await readSession(test.app, 'invented');
  expect(hasRecentToken(test.app, headers)).toBe(true);
  expect(hasRecentToken(test.app, { cookie: 'session=invented' })).toBe(false);

  const { key } = await makeKey(test);
  expect(hasRecentToken(test.app, { authorization: `Bearer ${key}` })).toBe(true);
  expect(hasRecentToken(test.app, { authorization: `Bearer ${key}x`, cookie: '' })).toBe(false);
  expect(hasRecentToken(test.app, {})).toBe(false);
});
