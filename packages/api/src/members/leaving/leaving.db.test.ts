import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tokenForBrowser } from '../../auth/sessions/known-browser.ts';
import { startSession } from '../../auth/sessions/session.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { passkeys } from '../../platform/db/schema/factors.ts';
import { invitations, memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  addMember,
  givePlan,
  makeAccount,
  makeInvitation,
  makeOwner,
  testClient,
  testPassword,
} from '../../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

async function exists(organisationId: string): Promise<boolean> {
  const rows = await test.app.db.select().from(organisations).where(eq(organisations.id, organisationId));
  return rows.length > 0;
}

it('lists what the deletion of an account also deletes, and then deletes it', async () => {
  const { api, userId, organisationId } = await makeOwner(test, { name: 'Alone Ltd' });
  expect(await api.leaving.deletion()).toMatchObject({
    ends: [
      {
        organisation: expect.objectContaining({ name: 'Alone Ltd' }),
        tier: 'free',
        tier_name: 'Free',
        has_members: false,
      },
    ],
    blocked: false,
  });

  await expect(api.leaving.deleteAccount({ password: 'not the pass phrase' })).rejects.toMatchObject({
    cause: { code: 'UNAUTHENTICATED' },
  });
  expect(await api.leaving.deleteAccount({ password: testPassword })).toEqual({ ok: true });
  expect(await exists(organisationId)).toBe(false);
  expect(await test.app.db.select().from(users).where(eq(users.id, userId))).toEqual([]);
});

it('deletes no organisation that the page did not show, and reports that before it checks the password', async () => {
  const { api, organisationId, userId } = await makeOwner(test);
  for (const password of [testPassword, 'not the pass phrase']) {
    await expect(api.leaving.deleteAccount({ password, organisation_ids: [] })).rejects.toMatchObject({
      cause: { code: 'NOT_FOUND' },
    });
  }
  expect(await exists(organisationId)).toBe(true);

  const { organisationId: kept } = await makeOwner(test);
  await api.leaving.deleteAccount({ password: testPassword, organisation_ids: [organisationId, kept] });
  expect(await exists(organisationId)).toBe(false);
  expect(await exists(kept)).toBe(true);
  expect(await test.app.db.select().from(users).where(eq(users.id, userId))).toEqual([]);
});

it('keeps an organisation that has another owner', async () => {
  const { api, organisationId } = await makeOwner(test);
  await addMember(test, organisationId, 'owner');
  await api.leaving.deleteAccount({ password: testPassword });
  expect(await exists(organisationId)).toBe(true);
});

it.each(['member', 'owner'] as const)(
  'does not leave members without an owner (beside a suspended %s)',
  async (role) => {
    const { api, organisationId } = await makeOwner(test);
    await suspendUser(test.app, (await addMember(test, organisationId, role)).email);
    expect(await api.leaving.deletion()).toMatchObject({ blocked: true });
    await expect(api.leaving.deleteAccount({ password: testPassword })).rejects.toMatchObject({
      cause: { code: 'VALIDATION' },
    });
    expect(await exists(organisationId)).toBe(true);
  },
);

it('deletes the invitations of a user who deletes their account, and those of a deleted organisation', async () => {
  const { api, organisationId } = await makeOwner(test);
  await addMember(test, organisationId, 'owner');
  await givePlan(test, organisationId, 'gold');
  const token = await makeInvitation({ api, organisationId });
  await api.leaving.deleteAccount({ password: testPassword });
  expect(await test.app.db.$count(invitations, eq(invitations.organisationId, organisationId))).toBe(0);
  await expect((await makeAccount(test)).api.members.join({ token })).rejects.toMatchObject({
    cause: { code: 'VALIDATION' },
  });

  const alone = await makeOwner(test);
  await makeInvitation(alone);
  await alone.api.leaving.deleteAccount({ password: testPassword });
  expect(await test.app.db.$count(invitations, eq(invitations.organisationId, alone.organisationId))).toBe(0);
});

it('leaves no organisation without an owner where two owners delete their accounts at once', async () => {
  const first = await makeOwner(test);
  const { organisationId } = first;
  const second = await makeOwner(test);
  await test.app.db.insert(memberships).values({
    userId: second.userId,
    organisationId,
    role: 'owner',
    createdAt: test.app.now(),
  });
  await addMember(test, organisationId, 'member');
  const ended = await Promise.allSettled(
    [first, second].map(({ api }) => api.leaving.deleteAccount({ password: testPassword })),
  );
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await test.app.db.$count(memberships, eq(memberships.organisationId, organisationId))).toBe(2);
});

it('exports all data about a user, and no secret', async () => {
  const { api, email, userId, organisationId } = await makeOwner(test);
  await makeInvitation({ api, organisationId });
  await api.keys.create({ organisation_id: organisationId, name: 'Mia’s laptop' });
  await api.factors.totp();
  const { hash: browserHash } = await tokenForBrowser(test.app, null);
  const client = { ...testClient, userAgent: 'Firefox' };
  await startSession(test.app, { userId, organisationId, browserHash, client });
  const passkey = { name: 'Phone', credentialId: userId, publicKey: 'key of a passkey', counter: 0, transports: [] };
  await test.app.db.insert(passkeys).values({ ...passkey, id: userId, userId, createdAt: test.app.now() });
  const data = await api.leaving.export();
  expect(data.passkeys).toMatchObject([{ name: 'Phone' }]);
  expect(data.authenticator_app).toMatchObject([{ confirmed_at: null }]);
  expect(data.api_keys).toMatchObject([{ organisation_id: organisationId, name: 'Mia’s laptop', scope: 'READ' }]);
  expect(data.known_browsers).toMatchObject([{ user_agent: 'Firefox', client: expect.any(String) }]);
  expect(data.user).toMatchObject({ email, has_password: true });
  expect(data.organisations).toMatchObject([{ id: organisationId, role: 'owner' }]);
  expect(data.open_invitations).toMatchObject([{ organisation_id: organisationId, role: 'member' }]);
  expect(data.events.map(({ action }) => action)).toContain('signed-up');
  expect(JSON.stringify(data)).not.toMatch(/argon2|hash|key of a passkey/i);
});
