import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountByEmail } from '../../auth/sessions/account.ts';
import { readSession, startSession } from '../../auth/sessions/session.ts';
import { matchUser } from '../../auth/sign-in/match-user.ts';
import { verifyEmail } from '../../auth/verification/verify-email.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { approveOwner, declineOwner, grantOperator } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  callerFor,
  makeIdentity,
  makeInvitation,
  makeOwner,
  makeSignUp,
  newEmail,
  testClient,
} from '../../testing/factories.ts';

type Owner = Awaited<ReturnType<typeof makeOwner>>;

let test: TestApp;
let host: Owner;
let operator: Owner;
beforeAll(async () => {
  test = await startTestApp();
  host = await makeOwner(test, { name: 'Host' });
  operator = await makeOwner(test, { operator: true });
});
afterAll(() => test.close());

/** Creates a user who signed up with an invitation, confirmed the address and joined no organisation. */
async function makeInvited() {
  const invitation = await makeInvitation(host);
  const { email, token, browserToken } = await makeSignUp(test, { invitation });
  await verifyEmail(test.app, { token, browserToken }, testClient);
  const person = await accountByEmail(test.app.db, email);
  if (person === null) throw new Error(`${email} has no account`);
  return { email, id: person.user.id };
}

const accountStatus = async (email: string) => (await accountByEmail(test.app.db, email))?.accountStatus;
const queued = async (search: string) => (await operator.api.operators.queue({ search })).waiting;

describe('a user who signed up with an invitation and joined nothing', () => {
  it('awaits approval, and is in the queue and its count', async () => {
    const before = (await operator.api.operators.queue({})).counts.waiting;
    const { email, id } = await makeInvited();
    expect(await accountStatus(email)).toBe('awaiting_approval');
    expect(await queued(email)).toMatchObject([
      {
        organisation: { id, slug: email, name: null },
        owner: { id, email },
        evidence: expect.arrayContaining([{ code: 'joined_nothing' }]),
      },
    ]);
    expect((await operator.api.operators.queue({})).counts.waiting).toBe(before + 1);
  });

  it('is approved with an organisation of its own', async () => {
    const { email, id } = await makeInvited();
    expect(await operator.api.operators.approve({ organisation_ids: [id] })).toMatchObject({ changed: 1 });
    expect(await accountStatus(email)).toBe('active');
    expect(await test.app.db.select().from(memberships).where(eq(memberships.userId, id))).toMatchObject([
      { role: 'owner' },
    ]);
    expect(await queued(email)).toEqual([]);
    expect(await operator.api.operators.approve({ organisation_ids: [id] })).toMatchObject({ changed: 0 });
  });

  it('is closed by a decline', async () => {
    const { email, id } = await makeInvited();
    expect(await operator.api.operators.decline({ organisation_ids: [id], reason: 'unknown' })).toMatchObject({
      changed: 1,
    });
    expect(await accountStatus(email)).toBe('closed');
    expect(await queued(email)).toEqual([]);
  });

  it('is also approved, declined and made an operator by admin commands', async () => {
    const { email } = await makeInvited();
    await approveOwner(test.app, email);
    expect(await accountStatus(email)).toBe('active');
    const declined = await makeInvited();
    await declineOwner(test.app, declined.email, 'unknown');
    expect(await accountStatus(declined.email)).toBe('closed');
    const granted = await makeInvited();
    await grantOperator(test.app, granted.email);
    expect(await accountStatus(granted.email)).toBe('active');
  });

  it('gets one organisation, however many operators approve it at once', async () => {
    const { id } = await makeInvited();
    const decisions = Array.from({ length: 5 }, () => operator.api.operators.approve({ organisation_ids: [id] }));
    const changed = (await Promise.all(decisions)).map((each) => each.changed);
    expect(changed.sort()).toEqual([0, 0, 0, 0, 1]);
    expect(await test.app.db.$count(memberships, eq(memberships.userId, id))).toBe(1);
  });

  it('awaits approval also after a sign-up through the identity provider', async () => {
    const identity = makeIdentity({ email: newEmail() });
    const person = await test.app.db.transaction((tx) =>
      matchUser(test.app, tx, identity, testClient, { invited: true }),
    );
    expect(person.accountStatus).toBe('awaiting_approval');
    expect(await queued(identity.email)).toHaveLength(1);
  });
});

it('a member who is removed does not await approval, and is in no queue', async () => {
  const { organisationId, api } = await makeOwner(test);
  const { email, id } = await makeInvited();
  const session = await startSession(test.app, { userId: id, organisationId: null, client: testClient });
  const token = await makeInvitation({ api, organisationId });
  await callerFor(test, await readSession(test.app, session)).members.join({ token });
  await api.members.remove({ organisation_id: organisationId, user_id: id });
  expect(await accountStatus(email)).toBe('active');
  expect(await queued(email)).toEqual([]);
});
