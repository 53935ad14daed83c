import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountByEmail } from '../auth/sessions/account.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { sessions } from '../platform/db/schema/sessions.ts';
import { restoreOrganisation, suspendOrganisation } from '../testing/admin-commands.ts';
import { type BillingTest, startBillingTest } from '../testing/billing.ts';
import { addMember, callerFor, givePlan, makeOwner, signInAs } from '../testing/factories.ts';

type Owner = Awaited<ReturnType<typeof makeOwner>>;

let test: BillingTest;
let operator: Owner;
beforeAll(async () => {
  test = await startBillingTest();
  operator = await makeOwner(test, { operator: true });
});
afterAll(() => test.close());

const statusOf = async (email: string) => (await accountByEmail(test.app.db, email))?.accountStatus;

async function makeWaiting(count: number, name: string): Promise<Owner[]> {
  return Promise.all(Array.from({ length: count }, () => makeOwner(test, { approved: false, name })));
}

/** The time of the page that the operator sees. */
const pageTime = () => test.app.now().toISOString();

describe('deciding all that a search finds', () => {
  it('approves those, in more than one page, and no other', async () => {
    const wanted = await makeWaiting(59, 'Willow');
    const [other] = await makeWaiting(1, 'Birch');
    const page = await operator.api.operators.queue({ search: 'Willow' });
    expect(page.waiting).toHaveLength(50);
    expect(page.found).toBe(59);

    const decided = await operator.api.operators.approveAll({ search: 'Willow', until: pageTime() });
    expect(decided.changed).toBe(59);
    expect(await statusOf(wanted[58]?.email ?? '')).toBe('active');
    expect(await statusOf(other?.email ?? '')).toBe('awaiting_approval');
  });

  it('leaves those that came after the page was read', async () => {
    const [before] = await makeWaiting(1, 'Hazel');
    const until = pageTime();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const [after] = await makeWaiting(1, 'Hazel');

    await operator.api.operators.declineAll({ search: 'Hazel', until });
    expect(await statusOf(before?.email ?? '')).toBe('closed');
    expect(await statusOf(after?.email ?? '')).toBe('awaiting_approval');
  });

  it('leaves what an owner who was verified before asked for after the page was read', async () => {
    const owner = await makeOwner(test, { name: 'Alder' });
    const until = pageTime();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await owner.api.organisations.create({ org_name: 'Alder Two' })).toEqual({ awaiting_approval: true });
    expect(await operator.api.operators.declineAll({ search: 'Alder', until })).toMatchObject({ changed: 0 });
    expect(await operator.api.operators.declineAll({ search: 'Alder', until: pageTime() })).toMatchObject({
      changed: 1,
    });
  });

  it('declines none that is suspended: after its end it waits again', async () => {
    const [owner] = await makeWaiting(1, 'Rowan');
    const slug = (await test.app.sql`select slug from organisations where id = ${owner?.organisationId ?? ''}`)[0]
      ?.slug;
    await suspendOrganisation(test.app, slug);
    const asked = { organisation_ids: [owner?.organisationId ?? ''], reason: 'unknown' as const };
    expect(await operator.api.operators.decline(asked).catch(({ cause }) => cause.code)).not.toMatchObject({
      changed: 1,
    });
    await restoreOrganisation(test.app, slug);
    expect(await statusOf(owner?.email ?? '')).toBe('awaiting_approval');
  });
});

describe('undoing what was decided at once', () => {
  it('makes all wait again, but for one that was decided anew or pays', async () => {
    const [plain, again, paying] = await makeWaiting(3, 'Maple');
    if (!plain || !again || !paying) throw new Error('three owners are made');
    const organisation_ids = [plain, again, paying].map(({ organisationId }) => organisationId);
    const { first } = await operator.api.operators.approve({ organisation_ids });
    const decided_at = first?.decided_at ?? '';
    await operator.api.operators.undoDecision({ organisation_id: again.organisationId, decided_at });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await operator.api.operators.approve({ organisation_ids: [again.organisationId] });
    await givePlan(test, paying.organisationId, 'silver');

    expect(await operator.api.operators.undoDecisions({ decided_at })).toEqual({ undone: 1, kept: 2 });
    expect(await statusOf(plain.email)).toBe('awaiting_approval');
    expect(await statusOf(again.email)).toBe('active');
    expect(await statusOf(paying.email)).toBe('active');
  });

  it('is for the operator who decided', async () => {
    const two = await makeWaiting(2, 'Rowan');
    const organisation_ids = two.map(({ organisationId }) => organisationId);
    const { first } = await operator.api.operators.decline({ organisation_ids });
    const other = await makeOwner(test, { operator: true });
    await expect(other.api.operators.undoDecisions({ decided_at: first?.decided_at ?? '' })).rejects.toMatchObject({
      cause: { code: 'NOT_FOUND' },
    });
    expect(await statusOf(two[0]?.email ?? '')).toBe('closed');
  });
});

describe('filters', () => {
  const emailsWith = async (status: 'active' | 'awaiting_approval' | 'unverified' | 'closed' | 'suspended') =>
    (await operator.api.operators.people({ status, rows: 1000 })).people.map(({ email }) => email);

  it('find the people whose badge says the status', async () => {
    const [waiting, declined] = await makeWaiting(2, 'Larch');
    const active = await makeOwner(test);
    const suspended = await makeOwner(test);
    const unverified = await makeOwner(test);
    await operator.api.operators.decline({ organisation_ids: [declined?.organisationId ?? ''] });
    await operator.api.operators.suspend({ user_id: suspended.userId });
    await test.app.db.update(users).set({ emailVerifiedAt: null }).where(eq(users.id, unverified.userId));

    for (const [status, email] of [
      ['active', active.email],
      ['awaiting_approval', waiting?.email],
      ['unverified', unverified.email],
      ['closed', declined?.email],
      ['suspended', suspended.email],
    ] as const) {
      expect(await emailsWith(status), status).toContain(email);
    }
    const { people } = await operator.api.operators.people({ rows: 1000 });
    for (const status of ['active', 'awaiting_approval', 'unverified', 'closed'] as const) {
      const shown = people.filter((each) => !each.suspended && each.account_status === status);
      expect(await emailsWith(status), status).toEqual(shown.map(({ email }) => email));
    }
  });

  it('find the organisations with a status and with a tier', async () => {
    const silver = await makeOwner(test);
    const suspended = await makeOwner(test);
    await givePlan(test, silver.organisationId, 'silver');
    await operator.api.operators.suspendOrganisation({ organisation_id: suspended.organisationId });

    const { organisations } = await operator.api.operators.organisations({ rows: 1000 });
    for (const status of ['approved', 'pending', 'declined', 'suspended'] as const) {
      const found = await operator.api.operators.organisations({ rows: 1000, status });
      expect(found.organisations, status).toEqual(organisations.filter((each) => each.status === status));
    }
    for (const tier of ['free', 'silver', 'gold']) {
      const found = await operator.api.operators.organisations({ rows: 1000, tier });
      expect(found.organisations, tier).toEqual(organisations.filter(({ plan }) => plan.tier === tier));
    }
    const both = await operator.api.operators.organisations({ status: 'approved', tier: 'silver' });
    expect(both.organisations.map(({ id }) => id)).toContain(silver.organisationId);
  });
});

describe('requests about a person', () => {
  const entriesOf = (userId: string, action: string) =>
    test.app.db.$count(
      auditEvents,
      and(eq(auditEvents.userId, userId), eq(auditEvents.action, action), eq(auditEvents.actorId, operator.userId)),
    );

  it('sign the person out everywhere, and are recorded', async () => {
    const person = await makeOwner(test);
    await signInAs(test, person.email);
    const { ended } = await operator.api.operators.endSessions({ user_id: person.userId });

    expect(ended).toBe(2);
    expect(await test.app.db.$count(sessions, eq(sessions.userId, person.userId))).toBe(0);
    expect(await entriesOf(person.userId, 'sessions-ended')).toBe(1);
  });

  it('export what is stored, and are recorded', async () => {
    const person = await makeOwner(test);
    expect(JSON.stringify(await operator.api.operators.export({ user_id: person.userId }))).toContain(person.email);
    expect(await entriesOf(person.userId, 'data-exported')).toBe(1);
  });

  it('erase the person, but none with other members unless that is asked for', async () => {
    const person = await makeOwner(test);
    await addMember(test, person.organisationId, 'member');
    await expect(operator.api.operators.erase({ user_id: person.userId })).rejects.toMatchObject({
      cause: { code: 'VALIDATION' },
    });
    await operator.api.operators.erase({ user_id: person.userId, with_members: true });

    expect(await test.app.db.$count(users, eq(users.id, person.userId))).toBe(0);
    expect(await entriesOf(person.userId, 'account-deleted')).toBe(1);
  });

  it('erase no operator: the command line does', async () => {
    const other = await makeOwner(test, { operator: true });
    for (const { userId } of [operator, other]) {
      await expect(operator.api.operators.erase({ user_id: userId })).rejects.toMatchObject({
        cause: { code: 'FORBIDDEN' },
      });
    }
  });

  it.each([
    ['export', (api: Owner['api'], user_id: string) => api.operators.export({ user_id })],
    ['erase', (api: Owner['api'], user_id: string) => api.operators.erase({ user_id })],
  ])('need a fresh sign-in to %s', async (_what, act) => {
    const person = await makeOwner(test);
    const stale = callerFor(test, { ...operator.principal, freshUntil: null } as Owner['principal']);
    await expect(act(stale, person.userId)).rejects.toMatchObject({ cause: { code: 'FRESH_SIGN_IN_REQUIRED' } });
    expect(await test.app.db.$count(users, eq(users.id, person.userId))).toBe(1);
  });
});

describe('the audit log', () => {
  it('is read page by page, by person and by action', async () => {
    const person = await makeOwner(test);
    const { suspended_at } = await operator.api.operators.suspend({ user_id: person.userId });
    await operator.api.operators.restore({ user_id: person.userId, suspended_at });

    const about = await operator.api.operators.audit({ person: person.email });
    expect(about.entries[0]).toMatchObject({
      action: 'person-restored',
      actor: operator.email,
      person: { id: person.userId, email: person.email },
    });
    const suspensions = await operator.api.operators.audit({ person: person.email, action: 'person-suspended' });
    expect(suspensions.entries.map(({ action }) => action)).toEqual(['person-suspended']);
    expect((await operator.api.operators.audit({ person: 'nobody@company.example' })).entries).toEqual([]);

    const first = await operator.api.operators.audit({});
    expect(first.entries).toHaveLength(50);
    const second = await operator.api.operators.audit({ after: first.next ?? '' });
    const ids = new Set([...first.entries, ...second.entries].map(({ id }) => id));
    expect(ids.size).toBe(first.entries.length + second.entries.length);
  });
});
