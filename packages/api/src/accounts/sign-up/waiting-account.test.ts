import { afterAll, beforeAll, expect, it } from 'vitest';
import { readDeletion } from '../../leaving/delete-account.ts';
import { readSession, startSession } from '../../sessions/session.ts';
import { signInWithPassword } from '../../sign-in/with-password.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner, testClient, testPassword } from '../../testing/factories.ts';
import { readProfile } from '../profile/read-profile.ts';
import { readApprovalProgress } from './read-approval-progress.ts';

const other = 'quite another pass phrase';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

it('refuses every call of an account that waits for approval but those for password, sessions and deletion', async () => {
  const { api, principal } = await makeOwner(test, { approved: false });
  expect(await readApprovalProgress(test.app, principal)).toMatchObject({ organisation: { name: 'Company' } });
  for (const call of [
    api.accounts.profile(),
    api.accounts.changeName({ name: 'A' }),
    api.leaving.export(),
    api.leaving.deletion(),
    api.subscription.read(),
    api.members.list(),
  ]) {
    await expect(call).rejects.toMatchObject({ code: 'FORBIDDEN', cause: { code: 'AWAITING_APPROVAL' } });
  }
});

it('lets an account that waits for approval change the password, end sessions and be deleted', async () => {
  const { api, email, userId, organisationId, principal } = await makeOwner(test, { approved: false });
  const begin = () => startSession(test.app, { userId, organisationId, client: testClient });
  const [first, second] = [await begin(), await begin()];
  expect(await readProfile(test.app, principal)).toMatchObject({ user: { email }, sessions: { length: 3 } });
  expect(await readDeletion(test.app, principal)).toMatchObject({ ends: [{ tier: 'free' }], blocked: false });

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
