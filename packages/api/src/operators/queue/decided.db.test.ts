import { and, eq, isNull } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountByEmail } from '../../auth/sessions/account.ts';
import { approveByRule } from '../../organisations/approve.ts';
import { paymentCheckouts } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { restoreOrganisation, suspendOrganisation } from '../../testing/admin-commands.ts';
import { type BillingTest, startBillingTest } from '../../testing/billing.ts';
import { addMember, makeOwner, signInAs } from '../../testing/factories.ts';

type Owner = Awaited<ReturnType<typeof makeOwner>>;

let test: BillingTest;
let operator: Owner;
beforeAll(async () => {
  test = await startBillingTest();
  operator = await makeOwner(test, { operator: true });
});
afterAll(() => test.close());

/** Undoes a decision, as from a page that showed it. */
const undo = ({ organisationId, decidedAt }: { organisationId: string; decidedAt: string }) =>
  operator.api.operators.undoDecision({ organisation_id: organisationId, decided_at: decidedAt });
const statusOf = async (email: string) => (await accountByEmail(test.app.db, email))?.accountStatus;

type Decision = 'approve' | 'decline';

async function decide({ organisationId }: Owner, decision: Decision): Promise<string> {
  const { first } = await operator.api.operators[decision]({ organisation_ids: [organisationId] });
  return first?.decided_at ?? '';
}

async function decidedOwner(decision: Decision): Promise<Owner & { decidedAt: string }> {
  const owner = await makeOwner(test, { approved: false });
  return { ...owner, decidedAt: await decide(owner, decision) };
}

describe('undoing a decision', () => {
  it.each(['approve', 'decline'] as const)('makes the organisation wait again after %s', async (decision) => {
    const owner = await decidedOwner(decision);
    await undo(owner);

    expect(await statusOf(owner.email)).toBe('awaiting_approval');
    const [row] = await test.app.db.select().from(organisations).where(eq(organisations.id, owner.organisationId));
    expect(row).toMatchObject({ approval: 'pending', approvedAt: null, declinedAt: null, declineReason: null });
    const { waiting } = await operator.api.operators.queue({ search: owner.email });
    expect(waiting).toHaveLength(1);
    await expect(undo(owner)).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
  });

  it.each([
    ['approve', 'approve', 'active'],
    ['approve', 'decline', 'closed'],
    ['decline', 'approve', 'active'],
    ['decline', 'decline', 'closed'],
  ] as const)('of an earlier %s leaves a later %s in place', async (before, after, status) => {
    const owner = await decidedOwner(before);
    await undo(owner);
    await decide(owner, after);

    await expect(undo(owner)).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
    expect(await statusOf(owner.email)).toBe(status);
  });

  it('without the time that the page showed asks to load the page again', async () => {
    const owner = await decidedOwner('approve');
    await expect(undo({ ...owner, decidedAt: '' })).rejects.toThrow('This page is out of date. Load it again.');
    expect(await statusOf(owner.email)).toBe('active');
  });

  it('lists an organisation with two owners once', async () => {
    const owner = await decidedOwner('approve');
    await addMember(test, owner.organisationId, 'owner');
    await undo(owner);

    const { waiting } = await operator.api.operators.queue({});
    expect(waiting.filter(({ organisation }) => organisation.id === owner.organisationId)).toHaveLength(1);
  });

  it('is not reverted by APPROVED_DOMAINS: only an operator approves again', async () => {
    const owner = await decidedOwner('approve');
    await undo(owner);
    const decision = {
      organisationIds: [owner.organisationId],
      ownerId: owner.userId,
      actorId: null,
      now: test.app.now(),
    };

    expect(await test.app.db.transaction((tx) => approveByRule(tx, decision))).toEqual([]);
    expect(await statusOf(owner.email)).toBe('awaiting_approval');
    await operator.api.operators.approve({ organisation_ids: [owner.organisationId] });
    expect(await statusOf(owner.email)).toBe('active');
  });

  it('succeeds once of ten concurrent calls, with one audit entry', async () => {
    const owner = await decidedOwner('approve');
    const settled = await Promise.allSettled(Array.from({ length: 10 }, () => undo(owner)));
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { entries } = await operator.api.operators.organisation({ organisation_id: owner.organisationId });
    expect(entries.filter(({ action }) => action === 'decision-undone')).toHaveLength(1);
  });

  it('fails a day after the decision', async () => {
    const owner = await decidedOwner('approve');
    const dayAgo = new Date(test.app.now().getTime() - dayMilliseconds);
    await test.app.db
      .update(organisations)
      .set({ approvedAt: dayAgo })
      .where(eq(organisations.id, owner.organisationId));

    const decided = { ...owner, decidedAt: dayAgo.toISOString() };
    await expect(undo(decided)).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
    expect(await statusOf(owner.email)).toBe('active');
  });

  it('fails for an organisation with an open checkout or a subscription, which would continue to pay', async () => {
    const owner = await decidedOwner('approve');
    const { api } = await signInAs(test, owner.email);
    const { url } = await api.billing.checkout({ tier: 'silver' });
    await expect(undo(owner)).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });

    test.sandbox.payment.payCheckout(url);
    await test.settled();
    await expect(undo(owner)).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
    expect(await statusOf(owner.email)).toBe('active');
  });

  it('and a concurrent checkout never leave an open checkout of an organisation that awaits approval', async () => {
    for (let round = 0; round < 6; round++) {
      const owner = await decidedOwner('approve');
      const { api } = await signInAs(test, owner.email);
      const delay = new Promise((resolve) => setTimeout(resolve, round * 4));
      await Promise.allSettled([api.billing.checkout({ tier: 'silver' }), delay.then(() => undo(owner))]);

      const open = and(eq(paymentCheckouts.organisationId, owner.organisationId), isNull(paymentCheckouts.closedAt));
      const waits = (await statusOf(owner.email)) === 'awaiting_approval';
      expect(waits && (await test.app.db.$count(paymentCheckouts, open)) > 0).toBe(false);
    }
  });

  it('fails for a suspended organisation and for the operator’s own', async () => {
    const owner = await decidedOwner('approve');
    await suspendOrganisation(test.app, owner.principal.organisation?.slug ?? '');
    await expect(undo(owner)).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
    await expect(undo({ ...owner, organisationId: operator.organisationId })).rejects.toMatchObject({
      cause: { code: 'VALIDATION' },
    });
    expect(await statusOf(operator.email)).toBe('active');
  });
});

describe('approving an organisation that another operator declined', () => {
  const approve = ({ organisationId }: Owner, more: object) =>
    operator.api.operators.approve({ organisation_ids: [organisationId], ...more });

  it('changes nothing from a page that showed it as waiting', async () => {
    const owner = await decidedOwner('decline');
    expect(await approve(owner, {})).toEqual({ changed: 0, first: null });
    expect(await statusOf(owner.email)).toBe('closed');
  });

  it('ends the decline from a page that showed it', async () => {
    const owner = await decidedOwner('decline');
    expect(await approve(owner, { declined_at: owner.decidedAt })).toMatchObject({ changed: 1 });
    expect(await statusOf(owner.email)).toBe('active');
  });

  it('changes nothing from a page that showed an earlier decline', async () => {
    const owner = await decidedOwner('decline');
    await undo(owner);
    await decide(owner, 'decline');
    expect(await approve(owner, { declined_at: owner.decidedAt })).toEqual({ changed: 0, first: null });
    expect(await statusOf(owner.email)).toBe('closed');
  });

  it('changes nothing once the organisation is suspended', async () => {
    const owner = await decidedOwner('decline');
    const slug = owner.principal.organisation?.slug ?? '';
    await suspendOrganisation(test.app, slug);
    expect(await approve(owner, { declined_at: owner.decidedAt })).toEqual({ changed: 0, first: null });
    await restoreOrganisation(test.app, slug);
    expect(await statusOf(owner.email)).toBe('closed');
  });
});

it('decided requests are listed newest first, page by page, each once, with who decided', async () => {
  const owners = [];
  for (let at = 0; at < 3; at++) owners.push(await decidedOwner(at === 1 ? 'decline' : 'approve'));

  const { decided } = await operator.api.operators.decided({});
  expect(decided.slice(0, 3)).toMatchObject(
    [...owners].reverse().map(({ organisationId, email }, at) => ({
      organisation: { id: organisationId },
      owner: email,
      decision: at === 1 ? 'declined' : 'approved',
      decided_by: operator.email,
      can_undo: true,
    })),
  );
  const [first] = decided;
  const after = `${Date.parse(first?.decided_at ?? '')}-${first?.organisation.id}`;
  const later = await operator.api.operators.decided({ after });
  expect(later.decided).toEqual(decided.slice(1));
  const own = decided.find(({ organisation }) => organisation.id === operator.organisationId);
  expect(own).toMatchObject({ can_undo: false });
});
