import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asc, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signInWithPassword } from '../../auth/sign-in/with-password.ts';
import { checkAddresses } from '../../operators/doctor/check-addresses.ts';
import { suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { createTestDatabase, migrationsFolder } from '../../testing/database/database.ts';
import { makeOwner, testClient, testPassword } from '../../testing/factories.ts';
import { openDatabase } from './client.ts';
import { unusualAddress, users } from './schema/accounts.ts';
import { migrate } from './upgrade/migrate.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ work: true });
});
afterAll(() => test.close());

function add(id: number, email: string) {
  const row = { id: idOf(id), email, createdAt: new Date(), emailVerifiedAt: new Date() };
  return test.app.db.insert(users).values(row);
}

const idOf = (id: number) => `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`;
const stored = async () =>
  (await test.app.db.select({ email: users.email }).from(users).orderBy(asc(users.id))).map(({ email }) => email);

it('stores addresses of earlier versions in their normal form, and leaves and lists those that collide', async () => {
  const rows = [
    'alone@münchen.example',
    'कोई@कंपनी.example',
    'twice@münchen.example',
    'twice@xn--mnchen-3ya.example',
    'hid\ufe0fden@company.example',
    'plain@company.example',
  ];
  for (const [index, email] of rows.entries()) await add(index, email);
  await migrate(test.app.sql, migrationsFolder);

  const after = rows.with(0, 'alone@xn--mnchen-3ya.example').with(1, 'कोई@xn--i1b1b4ch5i.example');
  expect(await stored()).toEqual(after);
  await Promise.all(Array.from({ length: 3 }, () => migrate(test.app.sql, migrationsFolder)));
  expect(await stored()).toEqual(after);

  const read = async () => (await checkAddresses(test.app)).map((finding) => `${finding.level} ${finding.sentence}`);
  const [hidden, twice, ...more] = await read();
  expect(hidden).toMatch(new RegExp(`^wrong The account ${idOf(4)} has the address hid<U\\+FE0F>den@.* not a valid`));
  expect(twice).toMatch(new RegExp(`^wrong The account ${idOf(2)} .* \\(twice@xn--mnchen-3ya\\.example\\)`));
  expect(more).toEqual([]);

  await suspendUser(test.app, 'twice@münchen.example');
  await suspendUser(test.app, idOf(4));
  expect(await read()).toEqual(['right Every account has its address in the normal form.']);
});

it('reads the few addresses concerned from an index', async () => {
  const plan = await test.app.db.transaction(async (tx) => {
    await tx.execute(sql`set local enable_seqscan = off`);
    return tx.execute(sql`explain select id from users where users.email ~ ${sql.raw(unusualAddress)}`);
  });
  expect(JSON.stringify(plan)).toContain('users_unusual_address');
});

it('leaves both of two addresses that have one normal form', async () => {
  await add(10, 'pair@straße.example');
  await add(11, 'pair@STRAßE.example');
  await migrate(test.app.sql, migrationsFolder);
  expect((await stored()).filter((email) => email.startsWith('pair'))).toEqual([
    'pair@straße.example',
    'pair@STRAßE.example',
  ]);
});

it('finds and signs in a user by the domain in Unicode', async () => {
  const operator = await makeOwner(test, { operator: true });
  const owner = await makeOwner(test);
  await test.app.sql`update users set email = 'jo@bücher.example' where id = ${owner.userId}`;
  await migrate(test.app.sql, migrationsFolder);

  for (const search of ['jo@bücher.example', 'BÜCHER.example', 'xn--bcher-kva']) {
    const { people } = await operator.api.operators.people({ search });
    expect(people.map(({ id }) => id)).toEqual([owner.userId]);
  }
  const typed = { email: 'Jo@BÜCHER.example', password: testPassword };
  expect(await signInWithPassword(test.app, typed, testClient)).toMatchObject({ userId: owner.userId });
});

it('moves the subjects of earlier versions into rows of their own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  await cp(migrationsFolder, folder, { recursive: true });
  const journal = JSON.parse(await readFile(join(folder, 'meta/_journal.json'), 'utf8'));
  const entries = journal.entries.slice(0, 4);
  await writeFile(join(folder, 'meta/_journal.json'), JSON.stringify({ ...journal, entries }));

  const database = await createTestDatabase();
  const old = openDatabase({ url: database.url, pool: 2, prepare: false });
  await old.sql.unsafe('drop schema public cascade; drop schema drizzle cascade; create schema public');
  await migrate(old.sql, folder);
  await old.sql`insert into users (id, email, idp_subject, created_at) values
    (${idOf(1)}, 'linked@company.example', 'the-subject', now()), (${idOf(2)}, 'none@company.example', null, now())`;
  await migrate(old.sql, migrationsFolder);
  expect(await old.sql`select user_id, issuer, subject, unlinked_at from identities`).toEqual([
    { user_id: idOf(1), issuer: null, subject: 'the-subject', unlinked_at: null },
  ]);
  await old.close();
  await database.drop();
  await rm(folder, { recursive: true });
});
