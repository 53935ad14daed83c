import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountByEmail } from '../../auth/sessions/account.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner } from '../../testing/factories.ts';

type Owner = Awaited<ReturnType<typeof makeOwner>>;

let test: TestApp;
let operator: Owner;
beforeAll(async () => {
  test = await startTestApp();
  operator = await makeOwner(test, { operator: true, name: 'Front desk' });
});
afterAll(() => test.close());

it('the reason of a suspension is shown to operators with its actor, and never to the user', async () => {
  const owner = await makeOwner(test);
  const { operators } = operator.api;
  const suspended = await operators.suspend({ user_id: owner.userId, reason: ' Sent spam. ' });
  expect(suspended).toMatchObject({ id: owner.userId, email: owner.email });

  const { entries, suspended_at, memberships } = await operators.person({ user_id: owner.userId });
  expect(suspended_at).not.toBeNull();
  expect(memberships).toMatchObject([{ organisation: { status: 'approved' } }]);
  expect(entries[0]).toMatchObject({ action: 'person-suspended', reason: 'Sent spam.', actor: operator.email });
  for (const wrong of ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) {
    const restored = operators.restore({ user_id: owner.userId, suspended_at: wrong });
    await expect(restored).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
  }
  await operators.restore({ user_id: owner.userId, suspended_at: suspended.suspended_at });
  expect(JSON.stringify(await owner.api.accounts.activity())).not.toContain('spam');
  expect(JSON.stringify(await owner.api.leaving.export())).not.toContain('spam');
});

it('the reason of an organisation’s suspension is shown to operators, and never to members', async () => {
  const owner = await makeOwner(test);
  const organisation_id = owner.organisationId;
  const { suspendOrganisation, restoreOrganisation, organisation } = operator.api.operators;
  const { suspended_at } = await suspendOrganisation({ organisation_id, reason: 'Sent spam.' });
  const { status, entries } = await organisation({ organisation_id });
  expect(status).toBe('suspended');
  expect(entries[0]).toMatchObject({ action: 'organisation-suspended', reason: 'Sent spam.', actor: operator.email });
  await restoreOrganisation({ organisation_id, suspended_at });
  expect(JSON.stringify(await owner.api.accounts.activity())).not.toContain('spam');
});

it.each(['user', 'organisation'] as const)(
  'a page that shows an earlier suspension of the %s does not end a later one',
  async (what) => {
    const { userId: user_id, organisationId: organisation_id, email } = await makeOwner(test);
    const { suspend, restore, suspendOrganisation, restoreOrganisation } = operator.api.operators;
    const close = () => (what === 'user' ? suspend({ user_id }) : suspendOrganisation({ organisation_id }));
    const reopen = (suspended_at: string) =>
      what === 'user' ? restore({ user_id, suspended_at }) : restoreOrganisation({ organisation_id, suspended_at });

    const earlier = await close();
    await reopen(earlier.suspended_at);
    const later = await close();
    await expect(reopen(earlier.suspended_at)).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
    expect((await accountByEmail(test.app.db, email))?.accountStatus).toBe('closed');
    await reopen(later.suspended_at);
    expect((await accountByEmail(test.app.db, email))?.accountStatus).toBe('active');
  },
);

it('an operator cannot close their own account or organisation', async () => {
  const { api, userId, organisationId } = operator;
  for (const call of [
    api.operators.suspend({ user_id: userId }),
    api.operators.suspendOrganisation({ organisation_id: organisationId }),
  ]) {
    await expect(call).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
  }
});

it('people and organisations are listed newest first, and pages hold each of them once', async () => {
  for (let at = 0; at < 5; at++) await makeOwner(test, { name: `Paged ${at}` });
  const { operators } = operator.api;

  const people: string[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await operators.people({ rows: 2, ...(after !== undefined && { after }) });
    people.push(...page.people.map(({ id }) => id));
    after = page.next;
  }
  const organisations: string[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await operators.organisations({ rows: 2, search: 'paged', ...(after !== undefined && { after }) });
    organisations.push(...page.organisations.map(({ name }) => name ?? ''));
    after = page.next;
  }

  expect(people).toEqual([...new Set(people)].sort().reverse());
  expect(people).toHaveLength((await operators.people({})).people.length);
  expect(organisations).toEqual(['Paged 4', 'Paged 3', 'Paged 2', 'Paged 1', 'Paged 0']);
});
