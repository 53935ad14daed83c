import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memberships, organisations, paymentSubscriptions } from '../db/schema.ts';
import { suspendPerson } from '../operators/by-address.ts';
import { readSession, startSession } from '../sessions/session.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { callerFor, makeMember, makeOwner, testClient } from '../testing/makers.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** Asks as a product would: a session's id, read anew each time. */
async function ask(id: string) {
  return callerFor(test, await readSession(test.app, id)).sessions.verify();
}

async function start(made: { userId: string; organisationId: string }) {
  return startSession(test.app, { userId: made.userId, organisationId: made.organisationId, client: testClient });
}

async function subscribe(organisationId: string, status: string) {
  const row = { id: `sub_${organisationId}`, organisationId, customerId: 'customer', status, tier: 'gold' as const };
  await test.app.db
    .insert(paymentSubscriptions)
    .values({ ...row, startedAt: test.app.now() })
    .onConflictDoUpdate({ target: paymentSubscriptions.id, set: { status } });
}

it('says who it is, for which organisation, on which plan, and what they may do', async () => {
  const { email, userId, organisationId } = await makeOwner(test, { name: 'Larch & Sons' });
  const answer = await ask(await start({ userId, organisationId }));
  expect(answer).toEqual({
    user: { id: userId, email, name: null },
    organisation: { id: organisationId, slug: expect.any(String), name: 'Larch & Sons', tier: 'free' },
    role: 'owner',
    scopes: ['READ', 'WRITE', 'ADMIN'],
  });
});

it('tells of a plan, a role and an organisation that changed, with the next request', async () => {
  const { organisationId } = await makeOwner(test);
  const member = await makeMember(test, organisationId, 'member');
  const id = await start(member);

  await subscribe(organisationId, 'active');
  expect((await ask(id)).organisation?.tier).toBe('gold');
  await subscribe(organisationId, 'canceled');
  expect((await ask(id)).organisation?.tier).toBe('free');

  await test.app.db.update(memberships).set({ role: 'viewer' }).where(eq(memberships.userId, member.userId));
  expect(await ask(id)).toMatchObject({ role: 'viewer', scopes: ['READ'] });

  await test.app.db.delete(memberships).where(eq(memberships.userId, member.userId));
  await expect(ask(id)).rejects.toMatchObject({ cause: { code: 'FORBIDDEN' } });
});

it('answers 401 for nobody and the suspended, 403 while a gate is shut', async () => {
  await expect(ask('unknown')).rejects.toMatchObject({ cause: { code: 'UNAUTHENTICATED' } });

  const owner = await makeOwner(test);
  const id = await start(owner);
  await test.app.db
    .update(organisations)
    .set({ approval: 'pending' })
    .where(eq(organisations.id, owner.organisationId));
  await expect(ask(id)).rejects.toMatchObject({ cause: { code: 'AWAITING_APPROVAL' } });
  await suspendPerson(test.app, owner.email);
  await expect(ask(id)).rejects.toMatchObject({ cause: { code: 'UNAUTHENTICATED' } });
});

it('asks the database once', async () => {
  const id = await start(await makeOwner(test));
  await ask(id);

  const asked: string[] = [];
  const { options } = test.app.sql;
  options.debug = (_, statement) => void asked.push(statement);
  await ask(id);
  options.debug = false;
  expect(asked).toHaveLength(1);
});
