import { and, eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { users } from '../platform/db/schema/accounts.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { sessions } from '../platform/db/schema/sessions.ts';
import { suspendUser } from '../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { addMember, linkSubject, makeOwner, signInAs, testPassword } from '../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const password = testPassword;

async function rolesIn(organisationId: string): Promise<Record<string, string>> {
  const rows = await test.app.db.select().from(memberships).where(eq(memberships.organisationId, organisationId));
  return Object.fromEntries(rows.map(({ userId, role }) => [userId, role]));
}

function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error) => error.cause.code,
  );
}

it('makes the member an owner and the owner an admin, and records both', async () => {
  const owner = await makeOwner(test);
  const { organisationId: organisation_id } = owner;
  const member = await addMember(test, organisation_id, 'viewer');
  await owner.api.organisations.transfer({ organisation_id, email: ` ${member.email.toUpperCase()} `, password });

  expect(await rolesIn(organisation_id)).toEqual({ [owner.userId]: 'admin', [member.userId]: 'owner' });
  const [entry] = await test.app.db
    .select()
    .from(auditEvents)
    .where(and(eq(auditEvents.organisationId, organisation_id), eq(auditEvents.action, 'ownership-transferred')));
  expect(entry).toMatchObject({
    actorId: owner.userId,
    userId: member.userId,
    client: '127.0.0.1',
    details: { from: 'viewer', to: 'owner' },
  });
});

it('asks for the password or a fresh session', async () => {
  const owner = await makeOwner(test);
  const { organisationId: organisation_id } = owner;
  const { email } = await addMember(test, organisation_id, 'member');
  const before = await rolesIn(organisation_id);
  const wrong = { organisation_id, email, password: 'not the pass phrase' };
  await expect(owner.api.organisations.transfer(wrong)).rejects.toMatchObject({
    cause: { code: 'UNAUTHENTICATED', fields: { password: expect.any(String) } },
  });

  await test.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, owner.userId));
  await linkSubject(test, owner.userId, owner.email);
  const { api } = await signInAs(test, owner.email, { idpSubject: owner.email });
  expect(await codeOf(api.organisations.transfer({ organisation_id, email }))).toBe('FRESH_SIGN_IN_REQUIRED');
  expect(await rolesIn(organisation_id)).toEqual(before);
  await (await signInAs(test, owner.email)).api.organisations.transfer({ organisation_id, email });
  expect(await rolesIn(organisation_id)).toMatchObject({ [owner.userId]: 'admin' });
});

it('refuses every other role, and a session that ended meanwhile', async () => {
  const owner = await makeOwner(test);
  const { organisationId: organisation_id } = owner;
  const { email } = await addMember(test, organisation_id, 'member');
  for (const role of ['admin', 'member', 'viewer'] as const) {
    const { api } = await addMember(test, organisation_id, role);
    expect(await codeOf(api.organisations.transfer({ organisation_id, email, password }))).toBe('FORBIDDEN');
  }
  await test.app.db.delete(sessions).where(eq(sessions.id, owner.principal.sessionId));
  expect(await codeOf(owner.api.organisations.transfer({ organisation_id, email, password }))).toBe('UNAUTHENTICATED');
  expect(await rolesIn(organisation_id)).toMatchObject({ [owner.userId]: 'owner' });
});

it('refuses a stranger, an owner, the caller and a suspended member, and names the field', async () => {
  const owner = await makeOwner(test);
  const { organisationId: organisation_id } = owner;
  const stranger = await makeOwner(test);
  const other = await addMember(test, organisation_id, 'owner');
  const suspended = await addMember(test, organisation_id, 'admin');
  await suspendUser(test.app, suspended.email);
  for (const email of [stranger.email, 'nobody@company.example', other.email, owner.email, suspended.email]) {
    await expect(owner.api.organisations.transfer({ organisation_id, email, password })).rejects.toMatchObject({
      cause: { code: 'VALIDATION', fields: { email: expect.any(String) } },
    });
  }
  const errors = await Promise.all(
    [stranger.email, 'nobody@company.example'].map((email) =>
      owner.api.organisations.transfer({ organisation_id, email, password }).catch((error) => error.message),
    ),
  );
  expect(new Set(errors).size).toBe(1);
});

it('lets one of two transfers at once by the same owner succeed', async () => {
  const owner = await makeOwner(test);
  const { organisationId: organisation_id } = owner;
  const targets = [await addMember(test, organisation_id, 'member'), await addMember(test, organisation_id, 'member')];
  const ended = await Promise.all(
    targets.map(({ email }) => codeOf(owner.api.organisations.transfer({ organisation_id, email, password }))),
  );
  expect(ended.sort()).toEqual(['FORBIDDEN', 'done']);
  expect(Object.values(await rolesIn(organisation_id)).sort()).toEqual(['admin', 'member', 'owner']);
});

it.each(['changeRole', 'transfer'] as const)(
  'leaves no organisation without an owner when the member whom %s makes an owner deletes the account at the same time',
  async (way) => {
    for (let round = 0; round < 8; round++) {
      const owner = await makeOwner(test);
      const { organisationId: organisation_id } = owner;
      const target = await addMember(test, organisation_id, 'member');
      const [{ passwordHash = null } = {}] = await test.app.db.select().from(users).where(eq(users.id, owner.userId));
      await test.app.db.update(users).set({ passwordHash }).where(eq(users.id, target.userId));
      await Promise.all([
        codeOf(
          way === 'transfer'
            ? owner.api.organisations.transfer({ organisation_id, email: target.email, password })
            : owner.api.members
                .changeRole({ organisation_id, user_id: target.userId, role: 'owner' })
                .then(() => owner.api.members.leave({ organisation_id })),
        ),
        codeOf(target.api.leaving.deleteAccount({ password })),
      ]);

      // Where the old owner left first, the organisation ends with the account of the only member.
      const exists = await test.app.db.$count(organisations, eq(organisations.id, organisation_id));
      if (exists > 0) expect(Object.values(await rolesIn(organisation_id))).toContain('owner');
    }
  },
);

it('keeps an owner under any mix of transfers, leaving, removal, demotion and deletion at once', async () => {
  const acts = ['transfer', 'transferBack', 'leave', 'remove', 'demote', 'targetLeaves', 'deleteAccount'] as const;
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([...acts], { minLength: 2, maxLength: 4 }), async (chosen) => {
      const owner = await makeOwner(test);
      const { organisationId: organisation_id } = owner;
      const target = await addMember(test, organisation_id, 'member');
      const second = await addMember(test, organisation_id, 'owner');
      const hash = await test.app.db.select().from(users).where(eq(users.id, owner.userId));
      await test.app.db
        .update(users)
        .set({ passwordHash: hash[0]?.passwordHash ?? null })
        .where(eq(users.id, second.userId));
      const does: Record<(typeof acts)[number], () => Promise<unknown>> = {
        transfer: () => owner.api.organisations.transfer({ organisation_id, email: target.email, password }),
        transferBack: () => second.api.organisations.transfer({ organisation_id, email: target.email, password }),
        leave: () => owner.api.members.leave({ organisation_id }),
        remove: () => second.api.members.remove({ organisation_id, user_id: target.userId }),
        demote: () => second.api.members.changeRole({ organisation_id, user_id: owner.userId, role: 'viewer' }),
        targetLeaves: () => target.api.members.leave({ organisation_id }),
        deleteAccount: () => second.api.leaving.deleteAccount({ password }),
      };
      const ended = await Promise.all(chosen.map((act) => codeOf(does[act]())));

      expect(ended).not.toContain('INTERNAL');
      // The deletion of the last member's account also deletes the organisation.
      const roles = Object.values(await rolesIn(organisation_id));
      const exists = await test.app.db.$count(organisations, eq(organisations.id, organisation_id));
      if (exists > 0 || roles.length > 0) expect(roles).toContain('owner');
    }),
    { numRuns: 12 },
  );
});
