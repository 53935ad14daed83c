import { eq, or } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditEvents } from '../db/schema/audit.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOwner } from '../testing/factories.ts';
import {
  approveOwner,
  declineOwner,
  grantOperator,
  restoreOrganisation,
  restoreUser,
  revokeOperator,
  suspendOrganisation,
  suspendUser,
} from './admin-commands.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

type Owner = Awaited<ReturnType<typeof makeOwner>>;
const slugOf = ({ principal }: Owner) => principal.organisation?.slug ?? '';

const nothingToDo: [command: string, act: (owner: Owner) => Promise<string>, sentence: RegExp][] = [
  ['restore of somebody not suspended', ({ email }) => restoreUser(test.app, email), /is not suspended\.$/],
  [
    'restore-organisation of one not suspended',
    (owner) => restoreOrganisation(test.app, slugOf(owner)),
    /is not suspended\.$/,
  ],
  ['revoke of somebody who is no operator', ({ email }) => revokeOperator(test.app, email), /is no operator\.$/],
  ['decline of what is approved', ({ email }) => declineOwner(test.app, email, 'No.'), /is not waiting/],
];

it.each(nothingToDo)('refuses %s, and writes nothing down', async (_name, act, sentence) => {
  const owner = await makeOwner(test);
  const written = await auditOf(owner);

  await expect(act(owner)).rejects.toThrow(sentence);
  expect(await auditOf(owner)).toEqual(written);
});

it('refuses to approve what is suspended, and says how it opens', async () => {
  const owner = await makeOwner(test);
  await suspendOrganisation(test.app, slugOf(owner));

  await expect(approveOwner(test.app, owner.email)).rejects.toThrow(/is suspended: restore-organisation/);
  await restoreOrganisation(test.app, slugOf(owner));
  expect(await approveOwner(test.app, owner.email)).toMatch(/was approved already\.$/);
});

it('may be told to grant and to approve again', async () => {
  const { email } = await makeOwner(test, { operator: true });
  expect(await grantOperator(test.app, email)).toMatch(/is an operator\.$/);
  expect(await revokeOperator(test.app, email)).toMatch(/is no operator any more\.$/);
});

const once: [name: string, act: (owner: Owner) => Promise<string>][] = [
  ['suspended', ({ email }) => suspendUser(test.app, email)],
  ['restored', ({ email }) => restoreUser(test.app, email)],
  ['suspended with the organisation', (owner) => suspendOrganisation(test.app, slugOf(owner))],
];

it('of ten at once one is told that it was done', async () => {
  const owner = await makeOwner(test);
  for (const [name, act] of once) {
    const told = await Promise.allSettled(Array.from({ length: 10 }, () => act(owner)));
    expect([name, told.filter(({ status }) => status === 'fulfilled').length]).toEqual([name, 1]);
  }
});

function auditOf({ userId, organisationId }: Owner) {
  const theirs = or(eq(auditEvents.userId, userId), eq(auditEvents.organisationId, organisationId));
  return test.app.db.select().from(auditEvents).where(theirs).orderBy(auditEvents.id);
}
