import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { addMember, callerFor, makeInvitation, makeOwner, testPassword } from '../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

type Api = ReturnType<typeof callerFor>;
type Names = { organisation_id: string; user_id: string };

/** What a user changes for good. */
const changes: Record<string, (api: Api, names: Names) => Promise<unknown>> = {
  'creates no key': (api, { organisation_id }) => api.keys.create({ organisation_id, name: 'Kept' }),
  'creates no invitation': (api, { organisation_id }) => api.members.invite({ organisation_id, role: 'admin' }),
  'changes no role': (api, names) => api.members.changeRole({ ...names, role: 'admin' }),
  'removes no member': (api, names) => api.members.remove(names),
  'renames no organisation': (api, { organisation_id }) => api.organisations.rename({ organisation_id, name: 'Other' }),
  'changes no billing contact': (api, { organisation_id }) =>
    api.organisations.changeBillingContact({ organisation_id, email: 'intruder@company.example' }),
};

// The use case waits for locks after the principal was read.
describe.each([
  ['the session has ended', 'delete from sessions where user_id = $1'],
  [
    'the user was suspended',
    'with ended as (delete from sessions where user_id = $1) update users set suspended_at = now() where id = $1',
  ],
])('a request that began before %s', (_, ending) => {
  it.each(Object.entries(changes))('%s', async (_, change) => {
    const owner = await makeOwner(test);
    const member = await addMember(test, owner.organisationId, 'member');
    const api = callerFor(test, owner.principal);
    await test.app.sql.unsafe(ending, [owner.userId]);

    const names = { organisation_id: owner.organisationId, user_id: member.userId };
    await expect(change(api, names)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('joins and makes no organisation, and deletes no account', async () => {
    const owner = await makeOwner(test);
    const token = await makeInvitation(await makeOwner(test));
    await test.app.sql.unsafe(ending, [owner.userId]);
    const { members, organisations, leaving } = callerFor(test, owner.principal);
    await expect(members.join({ token })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    await expect(leaving.deleteAccount({ password: testPassword })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    const closed = ending.includes('suspended_at') ? 'FORBIDDEN' : 'UNAUTHORIZED';
    await expect(organisations.create({ org_name: 'Kept' })).rejects.toMatchObject({ code: closed });
  });
});
