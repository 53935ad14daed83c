import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { addMember, callerFor, makeOwner } from '../testing/factories.ts';
import { makeKey } from '../testing/keys.ts';
import { recordChange } from './record-change.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** Starts a request that waits for changes, and resolves once it waits. */
async function poll(principal: Parameters<typeof callerFor>[1]) {
  const { app } = test;
  const begun = Promise.withResolvers<void>();
  const wait: typeof app.changes.wait = (...args) => {
    begun.resolve();
    return app.changes.wait(...args);
  };
  const api = callerFor({ ...test, app: { ...app, changes: { ...app.changes, wait } } }, principal);
  const { next } = await api.changes.since({});
  const answer = api.changes.since({ after: next, wait: 30 });
  await begun.promise;
  return { after: next, answer };
}

function tellRename(organisationId: string): Promise<void> {
  const change = { type: 'organisation.renamed', organisationId, data: { slug: 'company', name: 'Renamed' } } as const;
  return test.app.db.transaction((tx) => recordChange(tx, new Date(), change));
}

it.each([
  ['a key that was revoked', 'key', 'update api_keys set revoked_at = now() where id = $1'],
  ['a key that was deleted', 'key', 'delete from api_keys where id = $1'],
  ['a key of a suspended organisation', 'key', 'update organisations set suspended_at = now() where id = $1'],
  ['a deployment’s key that was revoked', 'deployment', 'update api_keys set revoked_at = now() where id = $1'],
  ['a session that was ended', 'session', 'delete from sessions where user_id = $1'],
  ['a suspended user', 'session', 'update users set suspended_at = now() where id = $1'],
  ['a user who is no member any more', 'session', 'delete from memberships where user_id = $1'],
  [
    'a user without the factor that the organisation requires by now',
    'session',
    'update organisations set second_factor_from = now() where id = $1',
  ],
  ['a user of a declined organisation', 'session', "update organisations set approval = 'declined' where id = $1"],
])('%s while its request waited for changes gets none', async (_, kind, ending) => {
  const { organisationId } = await makeOwner(test);
  const member = await addMember(test, organisationId, 'viewer');
  const owned = kind === 'deployment' ? null : organisationId;
  const key = kind === 'session' ? null : await makeKey(test, { organisationId: owned });
  const { after, answer } = await poll(key?.principal ?? member.principal);

  const ended = ending.startsWith('update organisations') ? organisationId : (key?.id ?? member.userId);
  await test.app.sql.unsafe(ending, [ended]);
  await tellRename(organisationId);
  expect(await answer).toEqual({ changes: [], next: after });
});

it.each(['key', 'deployment', 'session'])(
  'a %s that is still valid gets the change that it waited for',
  async (kind) => {
    const { organisationId } = await makeOwner(test);
    const member = await addMember(test, organisationId, 'viewer');
    const owned = kind === 'deployment' ? null : organisationId;
    const key = kind === 'session' ? null : await makeKey(test, { organisationId: owned });
    const { answer } = await poll(key?.principal ?? member.principal);

    await tellRename(organisationId);
    expect((await answer).changes.map(({ type }) => type)).toContain('organisation.renamed');
  },
);
