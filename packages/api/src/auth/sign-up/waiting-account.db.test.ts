import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner, testClient, testPassword } from '../../testing/factories.ts';
import { readSession, startSession } from '../sessions/session.ts';
import { signInWithPassword } from '../sign-in/with-password.ts';

const other = 'quite another pass phrase';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

it('rejects every call of an account that awaits approval but those for its progress, password, sessions and deletion', async () => {
  const { api } = await makeOwner(test, { approved: false });
  expect(await api.accounts.approvalProgress()).toMatchObject({ organisation: { name: 'Company' } });
  for (const call of [
    api.accounts.changeName({ name: 'A' }),
    api.leaving.export(),
    api.subscription.read(),
    api.members.search(),
  ]) {
    await expect(call).rejects.toMatchObject({ code: 'FORBIDDEN', cause: { code: 'AWAITING_APPROVAL' } });
  }
});

it('lets an account that awaits approval change the password, end sessions and be deleted', async () => {
  const { api, email, userId, organisationId } = await makeOwner(test, { approved: false });
  const begin = () => startSession(test.app, { userId, organisationId, client: testClient });
  const [first, second] = [await begin(), await begin()];
  expect(await api.accounts.profile()).toMatchObject({ user: { email }, sessions: { length: 3 } });
  expect(await api.leaving.deletion()).toMatchObject({ ends: [{ tier: 'free' }], blocked: false });

  await api.accounts.endSession({ id: (await readSession(test.app, first))?.sessionId ?? '' });
  expect(await readSession(test.app, first)).toBeNull();
  await api.accounts.endOtherSessions({});
  expect(await readSession(test.app, second)).toBeNull();
  const third = await begin();
  await api.accounts.changePassword({ current_password: testPassword, password: other });
  expect(await readSession(test.app, third)).toBeNull();
  await expect(api.leaving.deleteAccount({ password: testPassword })).rejects.toMatchObject({
    cause: { code: 'UNAUTHENTICATED' },
  });
  await api.leaving.deleteAccount({ password: other });
  await expect(signInWithPassword(test.app, { email, password: other }, testClient)).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
  });
});
