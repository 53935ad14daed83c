import { and, asc, eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../testing/database/database.ts';
import { type Connection, type Executor, openDatabase, prepared } from './client.ts';
import { users } from './schema/accounts.ts';
import { memberships } from './schema/members.ts';
import { organisations } from './schema/organisations.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let connection: Connection;

beforeAll(async () => {
  database = await createTestDatabase();
  connection = openDatabase({ url: database.url, pool: 1, prepare: true });
  await connection.sql`
    insert into organisations (id, slug, approval, created_at)
    values ('00000000-0000-4000-8000-000000000001', 'company', 'approved', now())`;
  await connection.sql`
    insert into users (id, email, name, operator, created_at) values
      ('00000000-0000-4000-8000-000000000002', 'owner@company.example', 'Owner', true, now()),
      ('00000000-0000-4000-8000-000000000003', 'alone@company.example', null, false, now())`;
  await connection.sql`
    insert into memberships (user_id, organisation_id, role, created_at) values
      ('00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000001', 'owner', now())`;
});

afterAll(async () => {
  await connection.close();
  await database.drop();
});

function joined(db: Executor) {
  return db
    .select({
      email: users.email,
      createdAt: users.createdAt,
      user: { id: users.id, name: users.name },
      membership: { role: memberships.role, createdAt: memberships.createdAt, since: sql<string>`'a text'` },
      mixed: { name: organisations.name, email: users.email },
      nameless: { name: organisations.name, slug: organisations.slug },
      organisation: { slug: organisations.slug, name: organisations.name },
      decoded: sql`${organisations.createdAt}`.mapWith(organisations.createdAt),
      named: sql<number>`1`.as('named'),
    })
    .from(users)
    .leftJoin(memberships, eq(memberships.userId, users.id))
    .leftJoin(organisations, and(eq(organisations.id, memberships.organisationId), eq(organisations.slug, 'company')))
    .orderBy(asc(users.email));
}

test.each([
  ['with objects of joined tables', joined],
  [
    'of whole tables',
    (db: Executor) => db.select().from(users).leftJoin(memberships, eq(memberships.userId, users.id)),
  ],
  ['of one table', (db: Executor) => db.select().from(users).orderBy(asc(users.email))],
  [
    'of a subquery',
    (db: Executor) => {
      const counted = db.select({ role: memberships.role, count: sql<number>`count(*)::int`.as('count') });
      const roles = counted.from(memberships).groupBy(memberships.role).as('roles');
      return db.select({ role: roles.role, count: roles.count }).from(roles);
    },
  ],
])('a prepared statement %s returns the rows that it returns unprepared', async (_, build) => {
  const statement = prepared((db) => build(db).prepare('rows') as { execute: () => Promise<unknown[]> });
  const rows = await statement(connection.db).execute();
  expect(rows.length).toBeGreaterThan(0);
  expect(rows).toStrictEqual(await build(connection.db));
});

test('a prepared change returns the columns that it names', async () => {
  const renaming = prepared((db) =>
    db
      .update(users)
      .set({ name: sql`${sql.placeholder('name')}` })
      .where(eq(users.email, sql.placeholder('email')))
      .returning({ name: users.name, createdAt: users.createdAt })
      .prepare('renaming'),
  );
  const renamed = await renaming(connection.db).execute({ name: 'New', email: 'owner@company.example' });
  expect(renamed).toEqual([{ name: 'New', createdAt: expect.any(Date) }]);
});

test('a prepared statement that fails rejects as an unprepared one does', async () => {
  const failing = (db: Executor) => db.select({ one: sql`1 / ${sql.placeholder('divisor')}::int` }).from(users);
  const statement = prepared((db) => failing(db).prepare('failing'));
  const failure = await statement(connection.db)
    .execute({ divisor: 0 })
    .catch((error) => error);
  const expected = await failing(connection.db)
    .prepare('failing')
    .execute({ divisor: 0 })
    .catch((error) => error);
  expect(failure.constructor).toBe(expected.constructor);
  expect(failure.message).toBe(expected.message);
  expect(failure.cause.code).toBe('22012');
});
