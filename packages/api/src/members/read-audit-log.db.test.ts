import { afterAll, beforeAll, expect, it } from 'vitest';
import { readActivity } from '../audit/read-activity.ts';
import { recordAudit } from '../audit/record.ts';
import { grantOperator } from '../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { addMember, givePlan, makeOwner, signInAs } from '../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

async function ownerWithLog() {
  const owner = await makeOwner(test);
  await givePlan(test, owner.organisationId, 'silver');
  return owner;
}

type Owner = Awaited<ReturnType<typeof ownerWithLog>>;
type Input = Parameters<Owner['api']['organisations']['auditLog']>[0];

async function entriesOf({ api }: Pick<Owner, 'api'>, input: Input = {}) {
  return (await api.organisations.auditLog(input)).log?.entries ?? [];
}

function renamed({ organisationId, userId }: Owner, at: Date, details = {}) {
  return recordAudit(test.app.db, at, { action: 'organisation-renamed', actorId: userId, organisationId, details });
}

it('shows an administrator who did what to whom, newest first, and nothing of another organisation', async () => {
  const owner = await ownerWithLog();
  const member = await addMember(test, owner.organisationId, 'member');
  const organisation = { organisation_id: owner.organisationId };
  await owner.api.members.changeRole({ ...organisation, user_id: member.userId, role: 'viewer' });
  const other = await ownerWithLog();
  await renamed(other, test.app.now());

  const [newest] = await entriesOf(owner);
  expect(newest).toMatchObject({
    action: 'role-changed',
    actor: { kind: 'named', email: owner.email },
    person: { kind: 'named', email: member.email },
    change: { from: 'member', to: 'viewer' },
  });
  expect((await entriesOf(owner)).map(({ action }) => action)).not.toContain('organisation-renamed');
});

it('names nobody who is no longer a member, no operator, and no client', async () => {
  const owner = await ownerWithLog();
  const operator = await makeOwner(test, { operator: true });
  const member = await addMember(test, owner.organisationId, 'member');
  await owner.api.members.remove({ organisation_id: owner.organisationId, user_id: member.userId });
  await recordAudit(test.app.db, test.app.now(), {
    action: 'override-set',
    actorId: operator.userId,
    organisationId: owner.organisationId,
  });
  const log = await entriesOf(owner);
  expect(log.find(({ action }) => action === 'member-removed')?.person).toEqual({ kind: 'unnamed' });
  expect(log.find(({ action }) => action === 'override-set')?.actor).toEqual({ kind: 'operator' });
  const text = JSON.stringify(log);
  for (const hidden of [member.email, operator.email, '127.0.0.1']) expect(text).not.toContain(hidden);
});

it('names no operator who suspends a member, even one who belongs to the organisation', async () => {
  const owner = await ownerWithLog();
  const operator = await addMember(test, owner.organisationId, 'admin');
  await grantOperator(test.app, operator.email);
  const admin = await addMember(test, owner.organisationId, 'admin');
  const organisation = { organisation_id: owner.organisationId };
  const { id } = await operator.api.keys.create({ ...organisation, name: 'Own' });
  await operator.api.keys.revoke({ id });
  await admin.api.keys.create({ ...organisation, name: 'Worker' });
  await (await signInAs(test, operator.email)).api.operators.suspend({ user_id: admin.userId });

  const revoked = await entriesOf(owner, { action: 'api-key-revoked' });
  expect(revoked.map(({ actor }) => actor)).toEqual([
    { kind: 'operator' },
    { kind: 'named', name: null, email: operator.email },
  ]);
  expect((await readActivity(test.app.db, owner.userId))[0]).toMatchObject({
    action: 'api-key-revoked',
    actor: { kind: 'operator' },
  });
});

it('filters by action and by day, in UTC', async () => {
  const owner = await ownerWithLog();
  for (const at of ['2026-02-01T23:59:59Z', '2026-02-02T00:00:00Z', '2026-02-03T23:59:59Z', '2026-02-04T00:00:00Z']) {
    await renamed(owner, new Date(at));
  }
  const found = await entriesOf(owner, { action: 'organisation-renamed', from: '2026-02-02', until: '2026-02-03' });
  expect(found.map(({ at }) => at)).toEqual(['2026-02-03T23:59:59.000Z', '2026-02-02T00:00:00.000Z']);
  const all = await entriesOf(owner, { action: 'organisation-renamed', from: '0000-01-01', until: '9999-12-31' });
  expect(all).toHaveLength(4);
  expect(await entriesOf(owner, { action: 'api-key-created' })).toEqual([]);
  for (const wrong of [{ from: '2026-02-30' }, { action: 'signed-in' as never }, { after: 'x' }]) {
    await expect(owner.api.organisations.auditLog(wrong)).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
  }
});

it('pages by a cursor without a gap or a repetition, also among entries of one moment', async () => {
  const owner = await ownerWithLog();
  const at = test.app.now();
  for (let entry = 0; entry < 7; entry++) await renamed(owner, at, { from: 'a', to: String(entry) });
  const seen: string[] = [];
  for (let after: string | undefined, pages = 0; pages < 10; pages++) {
    const { log } = await owner.api.organisations.auditLog({ action: 'organisation-renamed', limit: 3, after });
    seen.push(...(log?.entries ?? []).map(({ change }) => change?.to ?? ''));
    if (!log?.next) break;
    after = log.next;
  }
  expect([...seen].sort()).toEqual(['0', '1', '2', '3', '4', '5', '6']);
});

it('without the feature it is empty, and names the plans that have it', async () => {
  const owner = await makeOwner(test);
  await renamed(owner, test.app.now());
  expect(await owner.api.organisations.auditLog({})).toMatchObject({ log: null, tiers: ['Silver', 'Gold'] });
  await givePlan(test, owner.organisationId, 'silver');
  expect(await entriesOf(owner)).not.toEqual([]);
});

it('is refused to members and viewers', async () => {
  const owner = await ownerWithLog();
  for (const role of ['member', 'viewer'] as const) {
    const { email } = await addMember(test, owner.organisationId, role);
    const { api } = await signInAs(test, email);
    await expect(api.organisations.auditLog({})).rejects.toMatchObject({ cause: { code: 'FORBIDDEN' } });
  }
});
