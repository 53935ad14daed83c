import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { App } from '../../app.ts';
import { readSession, startSession } from '../../auth/sessions/session.ts';
import { signInWithPassword } from '../../auth/sign-in/with-password.ts';
import { createApp } from '../../create-app.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { silentLog } from '../../platform/log.ts';
import { grantOperator } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { migrationsFolder } from '../../testing/database/database.ts';
import { makeOwner, testClient, testPassword } from '../../testing/factories.ts';
import { closeDemoAccounts, markDemoAccount } from './demo-accounts.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

function startAt(publicBaseUrl: string | null): Promise<App> {
  return createApp({
    config: { ...test.app.config, publicBaseUrl },
    migrations: migrationsFolder,
    work: true,
    log: silentLog,
  });
}

it('a service that other machines reach starts on a database with demo accounts once they are closed', async () => {
  const { userId, organisationId, email } = await makeOwner(test);
  await grantOperator(test.app, email);
  await markDemoAccount(test.app, { userId });
  const session = await startSession(test.app, { userId, organisationId, client: testClient });

  for (const base of ['https://id.company.example', null]) {
    await expect(startAt(base)).rejects.toThrow(new RegExp(`demo accounts.*${email}.*close-demo-accounts`));
  }
  await (await startAt('http://localhost:3000')).close();

  expect(await closeDemoAccounts(test.app)).toContain(email);
  expect(await readSession(test.app, session)).toBeNull();
  const signIn = signInWithPassword(test.app, { email, password: testPassword }, testClient);
  await expect(signIn).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  const [user] = await test.app.db.select().from(users).where(eq(users.id, userId));
  expect(user).toMatchObject({ demo: false, operator: false, passwordHash: null });
  await (await startAt('https://id.company.example')).close();
  expect(await closeDemoAccounts(test.app)).toEqual([]);
});

it('a start finds the demo accounts by an index, whatever the number of users', async () => {
  const plan = await test.app.sql.begin(async (tx) => {
    await tx`set local enable_seqscan = off`;
    return tx`explain select email from users where demo order by email`;
  });
  expect(JSON.stringify(plan)).toContain('users_demo');
});

it('an account is marked only beside a service on this machine', async () => {
  const { userId } = await makeOwner(test);
  const app = { ...test.app, config: { ...test.app.config, publicBaseUrl: 'https://id.company.example' } };
  await expect(markDemoAccount(app, { userId })).rejects.toMatchObject({ code: 'VALIDATION' });
});
