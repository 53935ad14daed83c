import { eq, inArray } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signInWithPassword } from '../../auth/sign-in/with-password.ts';
import { verifyEmail } from '../../auth/verification/verify-email.ts';
import { eraseUser } from '../../members/leaving/erase-user.ts';
import { oneTimeTokens, users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { isAppError } from '../../platform/errors.ts';
import type { Caller } from '../../router/root.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';
import { addMember, makeOwner, makeSignUp, newEmail, testClient, testPassword } from '../../testing/factories.ts';
import { makeKey } from '../../testing/keys.ts';
import { commandLine } from '../actor.ts';
import { grantOperator } from '../grant-operator.ts';
import { restoreOrganisation, suspendOrganisation } from '../organisations/suspend-organisation.ts';
import { restoreUser, suspendUser } from '../users/suspend-user.ts';

let test: TestApp;
let manage: Caller['management'];
beforeAll(async () => {
  test = await startTestApp();
  manage = (await makeKey(test, { scope: 'MANAGE', passwordLinks: true })).api.management;
});
afterAll(() => test.close());

type Race = {
  acts: (() => Promise<unknown>)[];
  /** What came of it. */
  state: () => Promise<unknown>;
  /** The outcomes of each order, `done` or the error's code, with the state that follows. */
  orders: [outcomes: string[], state: unknown][];
};

const user = async (userId: string) => {
  const [row] = await test.app.db.select().from(users).where(eq(users.id, userId));
  if (row === undefined) return 'gone';
  return { operator: row.operator, suspended: row.suspendedAt !== null };
};
const approval = async (organisationId: string) => {
  const [row] = await test.app.db.select().from(organisations).where(eq(organisations.id, organisationId));
  return row === undefined ? 'gone' : row.suspendedAt !== null ? 'suspended' : row.approval;
};
const roles = async (organisationId: string) => {
  const rows = await test.app.db.select().from(memberships).where(eq(memberships.organisationId, organisationId));
  return Object.fromEntries(rows.map(({ userId, role }) => [userId, role]));
};

const suspended = { operator: false, suspended: true };
const operator = { operator: true, suspended: false };

const races: Record<string, () => Promise<Race>> = {
  'two creations of one user': async () => {
    const create = { email: newEmail(), verified: true, organisation: { name: 'Larch' } };
    return {
      acts: [() => manage.createUser(create), () => manage.createUser(create)],
      state: async () => (await manage.users({ email: create.email })).users.length,
      orders: [
        [['done', 'CONFLICT'], 1],
        [['CONFLICT', 'done'], 1],
      ],
    };
  },
  'a take-over, and the stranger’s link in their browser': async () => {
    const { email, token, browserToken } = await makeSignUp(test);
    const signIn = () => signInWithPassword(test.app, { email, password: testPassword }, testClient);
    return {
      acts: [
        () => manage.createUser({ email, verified: true }),
        async () => {
          const { ok } = await verifyEmail(test.app, { token, browserToken }, testClient);
          if (!ok) throw Object.assign(new Error('The link is dead.'), { code: 'DEAD' });
        },
      ],
      state: () => codeOf(signIn),
      orders: [
        [['done', 'DEAD'], 'UNAUTHENTICATED'],
        [['CONFLICT', 'done'], 'done'],
      ],
    };
  },
  'a suspension, and that by command': async () => {
    const { userId } = await makeOwner(test);
    return {
      acts: [() => manage.suspendUser({ user_id: userId }), () => suspendUser(test.app, { userId }, commandLine)],
      state: () => user(userId),
      orders: [
        [['done', 'done'], suspended],
        [['done', 'VALIDATION'], suspended],
      ],
    };
  },
  'a suspension, and the mark of an operator': async () => {
    const { userId } = await makeOwner(test);
    return {
      acts: [() => manage.suspendUser({ user_id: userId }), () => grantOperator(test.app, { userId }, commandLine)],
      state: () => user(userId),
      orders: [
        [['done', 'VALIDATION'], suspended],
        [['FORBIDDEN', 'done'], operator],
      ],
    };
  },
  'a deletion, and the mark of an operator': async () => {
    const { userId } = await makeOwner(test);
    return {
      acts: [() => manage.deleteUser({ user_id: userId }), () => grantOperator(test.app, { userId }, commandLine)],
      state: () => user(userId),
      orders: [
        [['done', 'NOT_FOUND'], 'gone'],
        [['FORBIDDEN', 'done'], operator],
      ],
    };
  },
  'a deletion, and the erasure by command': async () => {
    const { userId } = await makeOwner(test);
    return {
      acts: [
        () => manage.deleteUser({ user_id: userId }),
        async () => {
          const erased = await eraseUser(test.app, { userId }, { ...commandLine, withMembers: true });
          if (erased === null) throw Object.assign(new Error('There is no such user.'), { code: 'NOT_FOUND' });
        },
      ],
      state: () => user(userId),
      orders: [
        [['done', 'NOT_FOUND'], 'gone'],
        [['NOT_FOUND', 'done'], 'gone'],
      ],
    };
  },
  'a password link, and a suspension by command': async () => {
    const { userId } = await makeOwner(test);
    return {
      acts: [() => manage.passwordLink({ user_id: userId }), () => suspendUser(test.app, { userId }, commandLine)],
      state: () => test.app.db.$count(oneTimeTokens, eq(oneTimeTokens.userId, userId)),
      orders: [
        [['done', 'done'], 0],
        [['CONFLICT', 'done'], 0],
      ],
    };
  },
  'a password link, and the mark of an operator': async () => {
    const { userId } = await makeOwner(test);
    return {
      acts: [() => manage.passwordLink({ user_id: userId }), () => grantOperator(test.app, { userId }, commandLine)],
      state: () => test.app.db.$count(oneTimeTokens, eq(oneTimeTokens.userId, userId)),
      orders: [
        [['done', 'done'], 0],
        [['FORBIDDEN', 'done'], 0],
      ],
    };
  },
  'the removal of an owner, and a transfer of the ownership by them': async () => {
    const { api, organisationId, userId } = await makeOwner(test);
    const { email, userId: next } = await addMember(test, organisationId, 'member');
    const transfer = { organisation_id: organisationId, email, password: testPassword };
    return {
      acts: [
        () => manage.removeMember({ organisation: organisationId, user_id: userId }),
        () => api.organisations.transfer(transfer),
      ],
      state: () => roles(organisationId),
      orders: [
        [['CONFLICT', 'done'], { [userId]: 'admin', [next]: 'owner' }],
        [['done', 'done'], { [next]: 'owner' }],
      ],
    };
  },
  'the removal of a member, and a transfer of the ownership to them': async () => {
    const { api, organisationId, userId } = await makeOwner(test);
    const { email, userId: next } = await addMember(test, organisationId, 'member');
    const transfer = { organisation_id: organisationId, email, password: testPassword };
    return {
      acts: [
        () => manage.removeMember({ organisation: organisationId, user_id: next }),
        () => api.organisations.transfer(transfer),
      ],
      state: () => roles(organisationId),
      orders: [
        [['done', 'VALIDATION'], { [userId]: 'owner' }],
        [['CONFLICT', 'done'], { [userId]: 'admin', [next]: 'owner' }],
      ],
    };
  },
  'two owners for an organisation without one': async () => {
    const { id } = await manage.createOrganisation({ name: 'Larch' });
    const [one, other] = [(await makeOwner(test)).userId, (await makeOwner(test)).userId];
    const add = (userId: string) => () => manage.addMember({ organisation: id, user: userId, role: 'owner' });
    return {
      acts: [add(one), add(other)],
      state: () => roles(id),
      orders: [
        [['done', 'CONFLICT'], { [one]: 'owner' }],
        [['CONFLICT', 'done'], { [other]: 'owner' }],
      ],
    };
  },
  'an approval, and a decline': async () => {
    const { organisationId: organisation } = await makeOwner(test, { approved: false });
    return {
      acts: [
        () => manage.approveOrganisation({ organisation }),
        () => manage.declineOrganisation({ organisation, reason: 'Unknown.' }),
      ],
      state: () => approval(organisation),
      orders: [
        [['done', 'CONFLICT'], 'approved'],
        [['done', 'done'], 'approved'],
      ],
    };
  },
  'the deletion of an organisation, and its suspension by command': async () => {
    const { organisationId } = await makeOwner(test);
    return {
      acts: [
        () => manage.deleteOrganisation({ organisation: organisationId }),
        () => suspendOrganisation(test.app, { organisationId }, commandLine),
      ],
      state: () => approval(organisationId),
      orders: [
        [['done', 'done'], 'gone'],
        [['done', 'NOT_FOUND'], 'gone'],
      ],
    };
  },
};

async function codeOf(act: () => Promise<unknown>): Promise<string> {
  return act().then(
    () => 'done',
    (error) => (isAppError(error.cause) ? error.cause.code : (error.code ?? String(error))),
  );
}

it.each(Object.entries(races))('%s at once end as in one order or the other', async (_name, make) => {
  for (let round = 0; round < 6; round++) {
    const { acts, state, orders } = await make();
    // Which one is sent first changes from round to round.
    const sent = round % 2 === 0 ? acts : acts.toReversed();
    const ended = await Promise.all(sent.map(codeOf));
    const outcomes = round % 2 === 0 ? ended : ended.toReversed();
    expect(orders).toContainEqual([outcomes, await state()]);
  }
});

it('who suspends or restores what is deleted at that moment is told that it is not there', async () => {
  const [open, closed] = [await makeOwner(test), await makeOwner(test)];
  await suspendOrganisation(test.app, closed, commandLine);
  await suspendUser(test.app, closed, commandLine);

  const asking = await test.app.db.transaction(async (tx) => {
    const both = [open, closed];
    const ids = both.map(({ organisationId }) => organisationId);
    await tx.delete(organisations).where(inArray(organisations.id, ids));
    const people = both.map(({ userId }) => userId);
    await tx.delete(users).where(inArray(users.id, people));
    const asked = [
      suspendOrganisation(test.app, open, commandLine),
      restoreOrganisation(test.app, closed, commandLine),
      suspendUser(test.app, open, commandLine),
      restoreUser(test.app, closed, commandLine),
    ].map((act) => codeOf(() => act));
    await waitingForLocks(test, asked.length);
    return asked;
  });
  expect(await Promise.all(asking)).toEqual(asking.map(() => 'NOT_FOUND'));
});
