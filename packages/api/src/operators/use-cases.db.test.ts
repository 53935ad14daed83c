import { randomUUID } from 'node:crypto';
import { eq, or } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOwner } from '../testing/factories.ts';
import { type Actor, commandLine } from './actor.ts';
import { grantOperator, revokeOperator } from './grant-operator.ts';
import { restoreOrganisation, suspendOrganisation } from './organisations/suspend-organisation.ts';
import { approveOwner, declineOwner } from './queue/decide.ts';
import { createPasswordLink } from './users/create-password-link.ts';
import { restoreUser, suspendUser } from './users/suspend-user.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

type Target = { userId: string; organisationId: string };
type Call = (target: Target, actor?: Actor) => Promise<unknown>;

const suspend: Call = (target, actor = commandLine) => suspendUser(test.app, target, actor);
const restore: Call = (target, actor = commandLine) => restoreUser(test.app, target, actor);
const close: Call = (target, actor = commandLine) => suspendOrganisation(test.app, target, actor);
const reopen: Call = (target, actor = commandLine) => restoreOrganisation(test.app, target, actor);
const approve: Call = (target, actor = commandLine) => approveOwner(test.app, target, actor);
const decline: Call = ({ userId }, actor = commandLine) => declineOwner(test.app, { userId, reason: 'No.' }, actor);
const grant: Call = (target, actor = commandLine) => grantOperator(test.app, target, actor);
const revoke: Call = (target, actor = commandLine) => revokeOperator(test.app, target, actor);
const link: Call = (target, actor = commandLine) => createPasswordLink(test.app, target, actor);

const withoutEffect: [name: string, call: Call, sentence: RegExp][] = [
  ['restoring a user who is not suspended', restore, /is not suspended\.$/],
  ['restoring an organisation that is not suspended', reopen, /is not suspended\.$/],
  ['revoking a user who is not an operator', revoke, /is no operator\.$/],
  ['declining an approved organisation', decline, /is not waiting/],
];

it.each(withoutEffect)('%s fails and writes no audit entry', async (_name, call, sentence) => {
  const owner = await makeOwner(test);
  const before = await auditOf(owner);

  await expect(call(owner)).rejects.toThrow(sentence);
  expect(await auditOf(owner)).toEqual(before);
});

it('approving a suspended organisation fails with the name of the command that restores it', async () => {
  const owner = await makeOwner(test);
  await close(owner);

  await expect(approve(owner)).rejects.toThrow(/is suspended: restore-organisation/);
  await reopen(owner);
  expect(await approve(owner)).toMatchObject({ changed: 0 });
});

it('granting the mark approves the organisations that wait, and ends no decline', async () => {
  const owner = await makeOwner(test, { approved: false });
  await decline(owner);
  const other = await makeOwner(test);
  await test.app.db
    .insert(memberships)
    .values({ userId: owner.userId, organisationId: other.organisationId, role: 'owner', createdAt: test.app.now() });
  const waiting = await makeOwner(test, { approved: false });
  await test.app.db.update(memberships).set({ userId: owner.userId }).where(eq(memberships.userId, waiting.userId));

  await grant(owner);
  expect(await approvalsOf([owner, other, waiting])).toEqual(['declined', 'approved', 'approved']);
});

it.each([
  ['suspendUser', suspend],
  ['restoreUser', restore],
  ['suspendOrganisation', close],
  ['restoreOrganisation', reopen],
  ['approveOwner', approve],
  ['declineOwner', decline],
  ['grantOperator', grant],
  ['revokeOperator', revoke],
  ['createPasswordLink', link],
])('%s of an unknown id fails with NOT_FOUND', async (_name, call) => {
  const unknown = { userId: randomUUID(), organisationId: randomUUID() };
  await expect(call(unknown)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it.each([
  ['a user', suspend, restore],
  ['an organisation', close, reopen],
])('of ten concurrent suspensions or restorations of %s one succeeds', async (_name, first, second) => {
  const owner = await makeOwner(test);
  for (const call of [first, second]) {
    const settled = await Promise.allSettled(Array.from({ length: 10 }, () => call(owner)));
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  }
});

it('an operator in the console is the actor of every audit entry, with the address of the browser', async () => {
  const actor = { actorId: (await makeOwner(test)).userId, client: { address: '203.0.113.9', userAgent: 'browser' } };
  const owner = await makeOwner(test, { approved: false });
  for (const call of [approve, grant, revoke, link, suspend, restore, close, reopen]) await call(owner, actor);

  const entries = await test.app.db.select().from(auditEvents).where(eq(auditEvents.actorId, actor.actorId));
  const expected = [
    'organisation-approved',
    'operator-granted',
    'operator-revoked',
    'password-link-made',
    'person-suspended',
    'person-restored',
    'organisation-suspended',
    'organisation-restored',
  ];
  const fromThere = entries.filter(({ client }) => client === '203.0.113.9');
  expect(fromThere.map(({ action }) => action).sort()).toEqual(expected.sort());
});

function auditOf({ userId, organisationId }: Target) {
  const ofOwner = or(eq(auditEvents.userId, userId), eq(auditEvents.organisationId, organisationId));
  return test.app.db.select().from(auditEvents).where(ofOwner).orderBy(auditEvents.id);
}

async function approvalsOf(targets: Target[]): Promise<(string | undefined)[]> {
  const rows = await test.app.db.select().from(organisations);
  return targets.map(({ organisationId }) => rows.find(({ id }) => id === organisationId)?.approval);
}
