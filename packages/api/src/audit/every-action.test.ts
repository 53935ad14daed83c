import { asc, notInArray } from 'drizzle-orm';
import { beforeAll, expect, it } from 'vitest';
import { accountByEmail } from '../auth/sessions/account.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { accountActions } from '../testing/audit/account-actions.ts';
import type { AuditTest } from '../testing/audit/audit-case.ts';
import { commandActions, consoleActions } from '../testing/audit/operator-actions.ts';
import { organisationActions, planActions } from '../testing/audit/organisation-actions.ts';
import { makeOwner, testClient } from '../testing/factories.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { auditActions } from './actions.ts';

const test = useBillingTest({ environment: { APPROVED_DOMAINS: 'approved.example' } }) as AuditTest;
beforeAll(async () => {
  test.operator = await makeOwner(test, { operator: true });
});

const cases = [accountActions, consoleActions, commandActions, organisationActions, planActions].flatMap((table) =>
  table(test),
);

for (const [what, act, ...rows] of cases) {
  it(`${what} leaves ${rows.length === 0 ? 'no row' : `exactly ${rows.join(' and ')}`}`, async () => {
    const names = new Map([[test.operator.userId, 'operator']]);
    const nameUser = async (email: string) => {
      const account = await accountByEmail(test.app.db, email);
      if (account !== null) names.set(account.user.id, 'user').set(account.organisationId ?? '', 'organisation');
    };
    let before: string[] = [];
    const email = await act(async (known) => {
      if (known !== undefined) await nameUser(known);
      before = (await test.app.db.select({ id: auditEvents.id }).from(auditEvents)).map(({ id }) => id);
    });
    await nameUser(email);

    const written = await test.app.db
      .select()
      .from(auditEvents)
      .where(notInArray(auditEvents.id, before))
      .orderBy(asc(auditEvents.action));
    expect(written.map((row) => lineOf(row, names))).toEqual(rows);
    for (const { userAgent, client } of written) expect(userAgent).toBe(client && testClient.userAgent);
  });
}

/** Formats a row as an AuditLine. */
function lineOf(row: typeof auditEvents.$inferSelect, names: Map<string, string>): string {
  const nameOf = (id: string) => names.get(id) ?? 'another user';
  const about = [row.userId, row.organisationId].filter((id) => id !== null).map(nameOf);
  const client = row.client === testClient.address ? 'client' : row.client;
  return [
    row.action,
    row.actorId && `by ${nameOf(row.actorId)}`,
    about.length > 0 && `about ${about.join(', ')}`,
    client && `from ${client}`,
  ]
    .filter(Boolean)
    .join(' ');
}

it('has a case for every action', () => {
  // The other changes of a plan are in billing/projection/consequences.test.ts.
  const elsewhere = ['subscription-changed', 'subscription-ended', 'payment-failed'];
  const covered = cases.flatMap(([, , ...rows]) => rows.map((row) => row.split(' ')[0]));
  expect([...new Set([...elsewhere, ...covered])].sort()).toEqual(Object.keys(auditActions).sort());
});
