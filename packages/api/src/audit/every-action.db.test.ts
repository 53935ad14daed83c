import { readdirSync, readFileSync } from 'node:fs';
import { asc, gt, notInArray } from 'drizzle-orm';
import { beforeAll, expect, it } from 'vitest';
import { accountByEmail } from '../auth/sessions/account.ts';
import { changeTypes } from '../changes/record-change.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { changes } from '../platform/db/schema/changes.ts';
import { accountActions } from '../testing/audit/account-actions.ts';
import type { AuditTest } from '../testing/audit/audit-case.ts';
import { followFeed } from '../testing/audit/followed-feed.ts';
import { managementActions } from '../testing/audit/management-actions.ts';
import { commandActions, consoleActions } from '../testing/audit/operator-actions.ts';
import { organisationActions, planActions } from '../testing/audit/organisation-actions.ts';
import { toldActions, writers } from '../testing/audit/told-actions.ts';
import { makeOwner, testClient } from '../testing/factories.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { auditActions } from './actions.ts';

const test = useBillingTest({ environment: { APPROVED_DOMAINS: 'approved.example' } }) as AuditTest;
beforeAll(async () => {
  test.operator = await makeOwner(test, { operator: true });
});

const tables = [
  accountActions,
  consoleActions,
  commandActions,
  managementActions,
  organisationActions,
  planActions,
  toldActions,
];
const cases = tables.flatMap((table) => table(test));
const nameOfCase = new Set(cases.map(([what]) => what));

for (const [what, act, ...lines] of cases) {
  const rows = lines.filter((line) => !line.startsWith('tells '));
  const told = lines.filter((line) => line.startsWith('tells '));

  it(`${what} leaves ${rows.length === 0 ? 'no row' : `exactly ${rows.join(' and ')}`}, and ${told.join(', ') || 'tells nothing'}`, async () => {
    const names = new Map([[test.operator.userId, 'operator']]);
    const nameUser = async (email: string) => {
      const account = await accountByEmail(test.app.db, email);
      if (account !== null) names.set(account.user.id, 'user').set(account.organisationId ?? '', 'organisation');
    };
    let before: { rows: string[]; change: number } = { rows: [], change: 0 };
    const email = await act(async (known) => {
      if (known !== undefined) await nameUser(known);
      const rows = await test.app.db.select({ id: auditEvents.id }).from(auditEvents);
      const ids = await test.app.db.select({ id: changes.id }).from(changes);
      before = { rows: rows.map(({ id }) => id), change: Math.max(0, ...ids.map(({ id }) => id)) };
    });
    await nameUser(email);

    const written = await test.app.db
      .select()
      .from(auditEvents)
      .where(notInArray(auditEvents.id, before.rows))
      .orderBy(asc(auditEvents.action));
    expect(written.map((row) => lineOf(row, names))).toEqual(rows);
    for (const { userAgent, client } of written) expect(userAgent).toBe(client && testClient.userAgent);

    const found = await test.app.db
      .select()
      .from(changes)
      .where(gt(changes.id, before.change))
      .orderBy(asc(changes.id));
    const lines = found.map((row) => `tells ${row.type} about ${namesIn(row, names)}`);
    // A payment takes a plan through several states, by events that arrive in any order.
    const isRepeated = (line: string, at: number) => line.startsWith('tells plan.changed') && line === lines[at - 1];
    expect(lines.filter((line, at) => !isRepeated(line, at))).toEqual(told);
    const followed = await followFeed(test.app);
    expect(followed.told).toEqual(followed.stored);
  });
}

/** Formats a row as an AuditLine. */
function lineOf(row: typeof auditEvents.$inferSelect, names: Map<string, string>): string {
  const about = namesIn(row, names);
  const client = row.client === testClient.address ? 'client' : row.client;
  return [
    row.action,
    row.actorId && `by ${names.get(row.actorId) ?? 'another user'}`,
    about && `about ${about}`,
    client && `from ${client}`,
  ]
    .filter(Boolean)
    .join(' ');
}

type About = { userId: string | null; organisationId: string | null };

function namesIn({ userId, organisationId }: About, names: Map<string, string>): string {
  const user = userId && (names.get(userId) ?? 'another user');
  const organisation = organisationId && (names.get(organisationId) ?? 'another organisation');
  return [user, organisation].filter(Boolean).join(', ');
}

it('has a case for every action', () => {
  // The other changes of a plan are in billing/subscription/consequences.test.ts.
  const elsewhere = ['subscription-changed', 'subscription-ended', 'payment-failed'];
  const covered = cases.flatMap(([, , ...lines]) => lines.map((line) => line.split(' ')[0]));
  const actions = covered.filter((action) => action !== 'tells');
  expect([...new Set([...elsewhere, ...actions])].sort()).toEqual(Object.keys(auditActions).sort());
});

it('has a case for every type of change', () => {
  const told = cases.flatMap(([, , ...lines]) => lines.flatMap((line) => /^tells (\S+)/.exec(line)?.[1] ?? []));
  expect([...new Set(told)].sort()).toEqual([...changeTypes].sort());
});

it('has a case for every file that writes what the feed tells', () => {
  const source = new URL('..', import.meta.url);
  const table = '\\$?\\{?(users|memberships|organisations)\\b';
  const calls = `\\.(?:insert|update|delete)\\(${table}\\)|insertInSteps\\(tx, ${table}`;
  const writes = new RegExp(`${calls}|(?:insert into|update|delete from) ${table}`, 'g');
  const found = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|(^|\/)testing\//.test(file))
    .flatMap((file) => {
      const text = readFileSync(new URL(file, source), 'utf8');
      return [...new Set([...text.matchAll(writes)].map(([, ...tables]) => `${file}: ${tables.find(Boolean)}`))];
    });
  expect(found.sort()).toEqual(Object.keys(writers).sort());
  for (const cases of Object.values(writers)) {
    if (typeof cases !== 'string') expect(cases.filter((each) => !nameOfCase.has(each))).toEqual([]);
  }
});
