import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { organisations, users } from '../db/schema.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeMember, makeOwner, testPassword } from '../testing/makers.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

async function exists(organisationId: string): Promise<boolean> {
  const rows = await test.app.db.select().from(organisations).where(eq(organisations.id, organisationId));
  return rows.length > 0;
}

it('says before what deleting ends, and then ends it', async () => {
  const { api, userId, organisationId } = await makeOwner(test, { name: 'Alone Ltd' });
  expect(await api.leaving.deletion()).toEqual({
    ends: [{ organisation: expect.objectContaining({ name: 'Alone Ltd' }), tier: 'free', has_members: false }],
    blocked: false,
  });

  await expect(api.leaving.deleteAccount({ password: 'not the pass phrase' })).rejects.toMatchObject({
    cause: { code: 'UNAUTHENTICATED' },
  });
  expect(await api.leaving.deleteAccount({ password: testPassword })).toEqual({ ok: true });
  expect(await exists(organisationId)).toBe(false);
  expect(await test.app.db.select().from(users).where(eq(users.id, userId))).toEqual([]);
});

it('keeps an organisation that has another owner', async () => {
  const { api, organisationId } = await makeOwner(test);
  await makeMember(test, organisationId, 'owner');
  await api.leaving.deleteAccount({ password: testPassword });
  expect(await exists(organisationId)).toBe(true);
});

it('does not leave members without an owner', async () => {
  const { api, organisationId } = await makeOwner(test);
  await makeMember(test, organisationId, 'member');
  expect(await api.leaving.deletion()).toMatchObject({ blocked: true });
  await expect(api.leaving.deleteAccount({ password: testPassword })).rejects.toMatchObject({
    cause: { code: 'VALIDATION' },
  });
  expect(await exists(organisationId)).toBe(true);
});

it('gives a person all that is kept about them, and no secret', async () => {
  const { api, email } = await makeOwner(test);
  const data = await api.leaving.export();
  expect(data.user).toMatchObject({ email, has_password: true });
  expect(data.events.map(({ action }) => action)).toContain('signed-up');
  expect(JSON.stringify(data)).not.toMatch(/argon2|hash/i);
});
