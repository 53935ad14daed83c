import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Administrator } from '../../auth/principal.ts';
import { readPlan } from '../../organisations/plan.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { trialClaims } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { makeMember, ownedBy } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { endSubscriptions } from '../actions/end-subscriptions.ts';
import { openPortal } from '../actions/open-portal.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { startCheckout } from '../actions/start-checkout.ts';
import { readOverview } from '../summary/read-overview.ts';

const billing = useBillingTest();
const provider = () => billing.sandbox.payment;

/** Silver has 14 days without a card, gold 7 with one. */
beforeAll(() => {
  const trials: Record<string, { days: number; card: boolean }> = {
    silver: { days: 14, card: false },
    gold: { days: 7, card: true },
  };
  for (const tier of billing.app.plans.tiers) {
    const trial = trials[tier.tier];
    if (trial !== undefined) Object.assign(tier, { trial });
  }
});

type Owner = Administrator & { organisationId: string };

let count = 0;

/** An organisation of an owner of a domain; by default one of its own. */
async function makeOwner(domain = `company-${++count}.example`): Promise<Owner> {
  const principal = await makeMember(billing);
  const email = `owner-${++count}@${domain}`;
  await billing.app.db.update(users).set({ email }).where(eq(users.id, principal.user.id));
  return principal;
}

/** Opens a checkout, and tells whether it begins with a trial. */
async function hasTrial(principal: Owner, tier = 'silver'): Promise<boolean> {
  const { url } = await startCheckout(billing.app, principal, { tier });
  const id = new URL(url).pathname.split('/').at(-1) ?? '';
  return provider().state().checkout_settings[id]?.trial_period_days !== undefined;
}

async function startWithoutCard(principal: Owner) {
  const { url } = await startCheckout(billing.app, principal, { tier: 'silver' });
  const body = new URLSearchParams({ without_card: '1' });
  expect((await fetch(url, { method: 'POST', body, redirect: 'manual' })).status).toBe(303);
  await billing.settled();
  const subscription = ownedBy(billing, principal).subscriptions[0];
  if (subscription === undefined) throw new Error('The trial did not start.');
  return subscription;
}

const tierOf = async ({ organisationId }: Owner) => (await readPlan(billing.app, organisationId)).tier;

test('a trial without a card gives the plan, is paused at its end, and a new card resumes it', async () => {
  const principal = await makeOwner();
  expect((await readOverview(billing.app, principal)).trials).toEqual({
    silver: { days: 14, card: false },
    gold: { days: 7, card: true },
  });
  const { id } = await startWithoutCard(principal);
  expect(await tierOf(principal)).toBe('silver');
  const { plan, trials } = await readOverview(billing.app, principal);
  expect(plan).toMatchObject({ status: 'trialing', payment_method: null });
  expect(trials).toEqual({});

  provider().clock.advance({ days: 15 });
  await billing.settled();
  const paused = { tier: 'free', status: 'paused', trial_ended: true, payment_method: null };
  expect((await readOverview(billing.app, principal)).plan).toMatchObject(paused);
  const { url } = await startCheckout(billing.app, principal, { tier: 'silver' });
  provider().portal(url).changeCard('4242424242424242');
  await billing.settled();
  expect((await readOverview(billing.app, principal)).plan).toMatchObject({
    tier: 'silver',
    status: 'active',
    trial_ended: false,
  });
  const { data } = await requirePayment(billing.app).ask((api) => api.invoices.list({ subscription: id }));
  expect(data.filter(({ amount_paid }) => amount_paid > 0)).toMatchObject([{ amount_paid: 2400 }]);
});

test('a declined card leaves the trial paused, and the next checkout leads to a payment', async () => {
  const principal = await makeOwner();
  await startWithoutCard(principal);
  provider().clock.advance({ days: 15 });
  await billing.settled();
  const { url } = await openPortal(billing.app, principal, {});
  provider().portal(url).changeCard('4000000000000341');
  await billing.settled();
  expect((await readOverview(billing.app, principal)).plan).toMatchObject({ tier: 'free', status: 'paused' });
  expect((await startCheckout(billing.app, principal, { tier: 'silver' })).url).toMatch(/\/pay\/(invoice|portal)\//);
});

test.each([
  ['declined', '4000000000000341'],
  ['not confirmed', '4000002760003184'],
])('after a card that was %s, the next one pays for the trial and resumes it', async (_, refused) => {
  const principal = await makeOwner();
  const { id } = await startWithoutCard(principal);
  provider().clock.advance({ days: 15 });
  await billing.settled();
  for (const card of [refused, '4242424242424242']) {
    const { url } = await openPortal(billing.app, principal, {});
    provider().portal(url).changeCard(card);
    await billing.settled();
  }
  expect((await readOverview(billing.app, principal)).plan).toMatchObject({ tier: 'silver', status: 'active' });
  const { data } = await requirePayment(billing.app).ask((api) => api.invoices.list({ subscription: id }));
  expect(data.filter(({ amount_paid }) => amount_paid > 0)).toMatchObject([{ amount_paid: 2400 }]);
});

test('a pause for another reason is no trial that ended', async () => {
  const principal = await makeOwner();
  const { id } = await startWithoutCard(principal);
  await requirePayment(billing.app).ask((api) => api.subscriptions.update(id, { trial_end: 'now' }));
  provider().forceStatus(id, 'active');
  await requirePayment(billing.app).ask((api) => api.subscriptions.pause(id));
  await billing.settled();
  expect((await readOverview(billing.app, principal)).plan).toMatchObject({ status: 'paused', trial_ended: false });
});

test('there is one trial for an organisation, whatever the tier, also after its end', async () => {
  const principal = await makeOwner();
  expect(await hasTrial(principal)).toBe(true);
  expect(await hasTrial(principal, 'gold')).toBe(true);
  const { id } = await startWithoutCard(principal);
  await requirePayment(billing.app).ask((api) => api.subscriptions.cancel(id));
  await billing.settled();
  expect(await hasTrial(principal, 'gold')).toBe(false);
});

test('there is one trial for a company domain, also after its organisation and owner were deleted', async () => {
  const first = await makeOwner('larch.example');
  await startWithoutCard(first);
  await endSubscriptions(billing.app, first.organisationId);
  await billing.app.db.delete(organisations).where(eq(organisations.id, first.organisationId));
  await billing.app.db.delete(users).where(eq(users.id, first.user.id));
  const second = await makeOwner('larch.example');
  expect((await readOverview(billing.app, second)).trials).toEqual({});
  expect(await hasTrial(second)).toBe(false);

  const stored = JSON.stringify(await billing.app.db.select().from(trialClaims));
  for (const text of ['larch', first.organisationId]) expect(stored).not.toContain(text);
});

test('a checkout that was given up leaves the trial to another organisation of its owner', async () => {
  const owners = [];
  for (let made = 0; made < 4; made++) owners.push(await makeOwner('alder.example'));
  const [left, deleted, third, last] = owners as [Owner, Owner, Owner, Owner];
  expect(await hasTrial(left)).toBe(true);
  expect(await hasTrial(deleted)).toBe(false);
  provider().clock.advance({ days: 2 });
  await billing.settled();
  expect(await hasTrial(deleted)).toBe(true);
  expect(await hasTrial(third)).toBe(false);
  await endSubscriptions(billing.app, deleted.organisationId);
  await endSubscriptions(billing.app, third.organisationId);
  expect(await hasTrial(third)).toBe(true);
  expect(await hasTrial(third, 'gold')).toBe(true);
  await startWithoutCard(third);
  expect(await hasTrial(last)).toBe(false);
});

test('an open checkout without a trial is not opened again once the page offers one', async () => {
  const first = await makeOwner('rowan.example');
  const other = await makeOwner('rowan.example');
  expect(await hasTrial(first)).toBe(true);
  expect((await readOverview(billing.app, other)).trials).toEqual({});
  expect(await hasTrial(other)).toBe(false);

  await endSubscriptions(billing.app, first.organisationId);
  expect((await readOverview(billing.app, other)).trials).toHaveProperty('silver');
  expect(await hasTrial(other)).toBe(true);
  expect(ownedBy(billing, other).sessions.filter(({ status }) => status === 'open')).toHaveLength(1);
  // The checkout with the trial is reused.
  expect(await hasTrial(other)).toBe(true);
  expect(ownedBy(billing, other).sessions).toHaveLength(2);
});

test('the late end of a checkout releases nothing that a newer one or a subscription has claimed', async () => {
  const first = await makeOwner('hazel.example');
  const other = await makeOwner('hazel.example');
  expect(await hasTrial(first)).toBe(true);
  const late = ownedBy(billing, first).sessions[0];
  provider().set({ drop_deliveries: true });
  provider().clock.advance({ days: 2 });
  expect(await hasTrial(first)).toBe(true);
  provider().resetSwitches();
  provider().emit('checkout.session.expired', late ?? {});
  await billing.settled();
  expect(await hasTrial(other)).toBe(false);

  await startWithoutCard(first);
  provider().emit('checkout.session.expired', ownedBy(billing, first).sessions.at(-1) ?? {});
  await billing.settled();
  await endSubscriptions(billing.app, other.organisationId);
  expect(await hasTrial(other)).toBe(false);
});

test('people of a public mail domain are no company, and an owner has one trial in all organisations', async () => {
  const first = await makeOwner('gmail.com');
  const second = await makeOwner('gmail.com');
  expect(await hasTrial(first)).toBe(true);
  expect(await hasTrial(second)).toBe(true);

  const third = await makeOwner('gmail.com');
  const email = 'same@gmail.com';
  await billing.app.db.update(users).set({ email }).where(eq(users.id, third.user.id));
  expect(await hasTrial(third)).toBe(true);
  await billing.app.db.delete(users).where(eq(users.id, third.user.id));
  const again = await makeOwner();
  await billing.app.db.update(users).set({ email }).where(eq(users.id, again.user.id));
  expect(await hasTrial(again)).toBe(false);
});

test('of parallel checkouts of one company, one has the trial', async () => {
  const owners = [];
  for (let made = 0; made < 4; made++) owners.push(await makeOwner('poplar.example'));
  const trials = await Promise.all(owners.map((owner) => hasTrial(owner)));
  expect(trials.filter(Boolean)).toHaveLength(1);
});

test('one trial begins in a company at most, whatever its organisations do at once', async () => {
  const act = fc.constantFrom('open silver', 'open gold', 'complete', 'give up', 'nothing');
  const rounds = fc.array(fc.record({ acts: fc.tuple(act, act, act), days: fc.constantFrom(0, 0, 2) }), {
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(rounds, async (history) => {
      provider().set({ reorder_deliveries: true, duplicate_deliveries: true, delivery_delay_ms: 10 });
      const domain = `maple-${++count}.example`;
      const owners = [await makeOwner(domain), await makeOwner(domain), await makeOwner(domain)];
      async function carryOut(owner: Owner, name: string): Promise<void> {
        if (name.startsWith('open')) await startCheckout(billing.app, owner, { tier: name.slice('open '.length) });
        if (name === 'give up') await endSubscriptions(billing.app, owner.organisationId);
        if (name === 'complete')
          for (const { id, status } of ownedBy(billing, owner).sessions)
            if (status === 'open') provider().payCheckout(id);
      }
      for (const { acts, days } of history) {
        await Promise.allSettled(owners.map((owner, at) => carryOut(owner, acts[at] ?? 'nothing')));
        provider().clock.advance({ days });
      }
      const subscriptions = owners.flatMap((owner) => ownedBy(billing, owner).subscriptions);
      const trials = subscriptions.filter(({ trial_start }) => trial_start !== null);
      expect(trials.length).toBeLessThanOrEqual(1);

      provider().resetSwitches();
      provider().clock.advance({ days: 2 });
      await billing.settled();
      const last = await makeOwner(domain);
      expect(await hasTrial(last)).toBe(trials.length === 0);
    }),
    { numRuns: 6 },
  );
}, 120_000);
