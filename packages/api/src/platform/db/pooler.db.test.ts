import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSession, startSession } from '../../auth/sessions/session.ts';
import { signInWithPassword } from '../../auth/sign-in/with-password.ts';
import { signUp, signUpInput } from '../../auth/sign-up/sign-up.ts';
import { resendVerification } from '../../auth/verification/send-verification.ts';
import { verifyEmail } from '../../auth/verification/verify-email.ts';
import { readPlan } from '../../organisations/plan.ts';
import { startTestApp } from '../../testing/app.ts';
import { type BillingTest, makeSubscriber, startBillingTest } from '../../testing/billing.ts';
import { createTestDatabase } from '../../testing/database/database.ts';
import { hasPooler, type Pooler, startPooler } from '../../testing/database/pooler.ts';
import { callerFor, makeOwner, makeSignUp, newEmail, testClient, testPassword } from '../../testing/factories.ts';
import { organisations } from './schema/organisations.ts';

describe.skipIf(!hasPooler)('behind PgBouncer in transaction mode (skipped where there is none)', () => {
  let pooler: Pooler;
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let test: BillingTest;

  beforeAll(async () => {
    database = await createTestDatabase();
    pooler = await startPooler(database.url);
    // The limits are on, because their store has statements of its own.
    test = await startBillingTest({
      environment: { DATABASE_URL: pooler.url(database.url), DATABASE_PREPARE: 'false', RATE_LIMITS: 'on' },
    });
  });
  afterAll(async () => {
    await test?.close();
    await pooler?.stop();
    await database?.drop();
  });

  it('warns at the start that DATABASE_PREPARE=false is missing', async () => {
    const environment = { DATABASE_URL: pooler.url(database.url), DATABASE_PREPARE: 'true' };
    await expect(startTestApp({ environment })).rejects.toThrow(/startup parameter.*set DATABASE_PREPARE=false\./);
  });

  it('shares few connections between many callers', async () => {
    const pids = await Promise.all(
      Array.from({ length: 60 }, () => test.app.sql`select pg_backend_pid() as pid, pg_sleep(0.005)`),
    );
    expect(new Set(pids.map(([row]) => row?.pid)).size).toBeLessThanOrEqual(3);
  });

  it('loses no answer of statements with and without values, however they mix', async () => {
    const { sql } = test.app;
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, at) => (at % 2 ? sql`select ${at}::int as value` : sql`select 0 as value`)),
    );
    expect(answers.every(([row], at) => row?.value === (at % 2 ? at : 0))).toBe(true);
  });

  it('signs up, mails, opens the link and signs in', async () => {
    const { email, token, browserToken } = await makeSignUp(test);
    expect(await verifyEmail(test.app, { token, browserToken }, testClient)).toMatchObject({ ok: true });
    const { userId, organisationId } = await signInWithPassword(
      test.app,
      { email, password: testPassword },
      testClient,
    );
    const id = await startSession(test.app, { userId, organisationId, client: testClient });
    expect(await readSession(test.app, id)).toMatchObject({ user: { email }, accountStatus: 'awaiting_approval' });
  });

  it('reads 300 sessions at once', async () => {
    const owners = [await makeOwner(test), await makeOwner(test), await makeOwner(test)];
    const ids = await Promise.all(owners.map((owner) => startSession(test.app, { ...owner, client: testClient })));
    const answers = await Promise.all(
      Array.from({ length: 300 }, async (_, at) => {
        const principal = await readSession(test.app, ids[at % 3] ?? '');
        return callerFor(test, principal).sessions.verify();
      }),
    );
    expect(answers.every(({ user }, at) => user.id === owners[at % 3]?.userId)).toBe(true);
  });

  it('counts the limits', async () => {
    const email = newEmail();
    const attempt = () => signInWithPassword(test.app, { email, password: 'wrong' }, testClient);
    const ended = await Promise.allSettled(Array.from({ length: 15 }, attempt));
    const codes = ended.map((end) => (end.status === 'rejected' ? end.reason.code : 'in'));
    expect(codes.filter((code) => code === 'UNAUTHENTICATED')).toHaveLength(10);
    expect(codes.filter((code) => code === 'TOO_MANY')).toHaveLength(5);
  });

  it('accepts webhooks and runs the jobs that they cause', async () => {
    const { principal } = await makeSubscriber(test, 'gold');
    expect((await readPlan(test.app, principal.organisationId)).tier).toBe('gold');
  });

  it('rolls a job back with its transaction', async () => {
    const { email, mail } = await makeSignUp(test);
    const count = async () =>
      (await test.app.sql`select count(*)::int as count from pgboss.job where name = 'verification-mail'`)[0]?.count;
    const before = await count();
    const away = test.app.db.transaction(async (tx) => {
      await test.app.jobs.send(tx, 'verification-mail', { email });
      throw new Error('changed its mind');
    });
    await expect(away).rejects.toThrow('changed its mind');
    expect(await count()).toBe(before);

    test.advance(61_000);
    await resendVerification(test.app, { email });
    await test.sandbox.mailbox.waitFor(email, mail);
  });

  it('signs up 30 organisations of one name at once, with a job for each', async () => {
    const addresses = Array.from({ length: 30 }, () => newEmail());
    await Promise.all(
      addresses.map((email) =>
        signUp(test.app, signUpInput.parse({ email, password: testPassword, org_name: 'Crowd' }), testClient),
      ),
    );
    const made = await test.app.db.select().from(organisations).where(eq(organisations.name, 'Crowd'));
    expect(new Set(made.map(({ slug }) => slug)).size).toBe(30);
    const [jobs] = await test.app.sql`
      select count(distinct data->>'email')::int as count from pgboss.job
      where name = 'verification-mail' and data->>'email' = any(${addresses})`;
    expect(jobs?.count).toBe(30);
  });
});
