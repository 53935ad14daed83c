import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Transaction } from '../../platform/db/client.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { suspendOrganisation } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  callerFor,
  givePlan,
  makeInvitation,
  makeOwner,
  makeSignUp,
  signInAs,
  testClient,
  testPassword,
} from '../../testing/factories.ts';
import { startSession } from '../sessions/session.ts';
import { verifyEmail } from '../verification/verify-email.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ environment: { APPROVED_DOMAINS: 'company.example' } });
});
afterAll(() => test.close());

type Act = () => Promise<unknown>;

/** Starts both acts while `hold` keeps its lock, the first one a step ahead, and returns how each ended. */
async function meet(hold: (tx: Transaction) => Promise<unknown>, first: Act, second: Act) {
  let acts: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([]);
  await test.app.db.transaction(async (tx) => {
    await hold(tx);
    const ahead = first();
    await waiting(1);
    acts = Promise.allSettled([ahead, second()]);
    await waiting(2);
  });
  return (await acts).map((each) => (each.status === 'fulfilled' ? 'done' : codeOf(each.reason)));
}

/** Returns the code of an AppError; PostgreSQL's code if two transactions deadlocked. */
function codeOf(reason: unknown): unknown {
  const error = reason as { code?: unknown; cause?: unknown };
  return error.cause instanceof Error ? codeOf(error.cause) : error.code;
}

async function waiting(count: number): Promise<void> {
  const blocked = () =>
    test.app.sql`
      select pid from pg_stat_activity
      where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`.then(({ length }) => length);
  await expect.poll(blocked, { interval: 20 }).toBeGreaterThanOrEqual(count);
}

const holdOrganisation = (id: string) => (tx: Transaction) =>
  tx.select({ id: organisations.id }).from(organisations).where(eq(organisations.id, id)).for('update');

/** An owner whose link was opened elsewhere, with the token of the button that approves. */
async function makeWaiting() {
  const { email, token } = await makeSignUp(test);
  const outcome = await verifyEmail(test.app, { token, browserToken: null }, testClient);
  if (!('offers' in outcome)) throw new Error('the link did not work');
  const { password, approvalToken } = outcome.offers;
  await callerFor(test, null).accounts.setPassword({ token: password?.token ?? '', password: testPassword });
  return { ...(await signInAs(test, email)), token: approvalToken ?? '' };
}

it('a sign-in and an approval by the button do not deadlock', async () => {
  const owner = await makeWaiting();
  const { accounts } = callerFor(test, null);
  const ended = await meet(
    holdOrganisation(owner.organisationId),
    () => startSession(test.app, { ...owner, client: testClient }),
    () => accounts.approveByDomain({ token: owner.token }),
  );
  expect(ended).toEqual(['done', 'done']);
});

it('a sign-in and the use of an invitation to the session’s organisation do not deadlock', async () => {
  const owner = await makeOwner(test);
  const token = await makeInvitation(owner);
  const ended = await meet(
    holdOrganisation(owner.organisationId),
    () => owner.api.members.join({ token }),
    () => startSession(test.app, { ...owner, client: testClient }),
  );
  expect(ended).toEqual(['VALIDATION', 'done']);
});

it('the use of an invitation and what its inviter does do not deadlock', async () => {
  for (const act of ['invite', 'key', 'suspension'] as const) {
    const inviter = await makeOwner(test);
    const joining = await makeOwner(test);
    const token = await makeInvitation(inviter);
    const { organisationId: organisation_id } = inviter;
    await givePlan(test, organisation_id, 'gold');
    const ended = await meet(
      holdOrganisation(organisation_id),
      () => joining.api.members.join({ token }),
      async () => {
        if (act === 'invite') await inviter.api.members.invite({ organisation_id, role: 'member' });
        else if (act === 'key') await inviter.api.keys.create({ organisation_id, name: 'Key' });
        else await suspendOrganisation(test.app, inviter.principal.organisation?.slug ?? '');
      },
    );
    expect(ended, act).toEqual(['done', 'done']);
  }
});

it('the deletion of an account and a sign-in or an approval do not deadlock', async () => {
  for (const approves of [false, true]) {
    const owner = await makeWaiting();
    const { accounts } = callerFor(test, null);
    const ended = await meet(
      holdOrganisation(owner.organisationId),
      () => owner.api.leaving.deleteAccount({ password: testPassword }),
      () =>
        approves
          ? accounts.approveByDomain({ token: owner.token })
          : startSession(test.app, { ...owner, client: testClient }),
    );
    expect(ended).toEqual(['done', approves ? 'VALIDATION' : 'UNAUTHENTICATED']);
  }
});

it('the suspension of an organisation and an approval by the button do not deadlock', async () => {
  const owner = await makeWaiting();
  const ended = await meet(
    holdOrganisation(owner.organisationId),
    () => suspendOrganisation(test.app, owner.principal.organisation?.slug ?? ''),
    () => callerFor(test, null).accounts.approveByDomain({ token: owner.token }),
  );
  expect(ended).toEqual(['done', 'VALIDATION']);
});
