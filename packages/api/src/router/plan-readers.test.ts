import fs from 'node:fs';
import path from 'node:path';
import { eq } from 'drizzle-orm';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../app.ts';
import { readKey } from '../auth/read-key.ts';
import { readSession, startSession } from '../auth/sessions/session.ts';
import { decideDuePlans } from '../billing/entitlement/decide-plan.ts';
import { noSyncs } from '../billing/sync/sync-queue.ts';
import { requireRoomForMember } from '../billing/usage/member-room.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { isAppError } from '../platform/errors.ts';
import { type BillingTest, makeMember, makeSubscriber, startBillingTest } from '../testing/billing.ts';
import { addMember, callerFor, testClient } from '../testing/factories.ts';
import { makeKey } from '../testing/keys.ts';
import { deliver, makeEvent } from '../testing/payment/payment-events.ts';
import type { Caller } from './root.ts';

/**
 * Every reader of the plan × every state of the subscription that decides it: each must say the same tier. The states
 * come by the webhook, and the readers are asked as their callers ask them.
 */
let billing: BillingTest;
let deploymentKey: string;
beforeAll(async () => {
  const environment = { TOKEN_TTL_SECONDS: '300', TOKEN_KEY_SECRET: 'a secret of thirty-two characters or more' };
  billing = await startBillingTest({ environment });
  deploymentKey = (await makeKey(billing)).key;
});
afterAll(() => billing.close());

type State = {
  /** What the event says of a subscription to Gold that was active. Times in days from now. */
  status: string;
  cancelAtDays?: number;
  /** How many days later the plan is read. */
  laterDays?: number;
  tier: 'gold' | 'free';
};

const states: Record<string, State> = {
  active: { status: 'active', tier: 'gold' },
  trialing: { status: 'trialing', tier: 'gold' },
  'past due, in its grace': { status: 'past_due', laterDays: 6.9, tier: 'gold' },
  'past due, after its grace': { status: 'past_due', laterDays: 7.1, tier: 'free' },
  unpaid: { status: 'unpaid', tier: 'free' },
  paused: { status: 'paused', tier: 'free' },
  incomplete: { status: 'incomplete', tier: 'free' },
  'incomplete and expired': { status: 'incomplete_expired', tier: 'free' },
  canceled: { status: 'canceled', tier: 'free' },
  'of an unknown status': { status: 'on_holiday', tier: 'free' },
  'set to end': { status: 'active', cancelAtDays: 5, laterDays: 4.9, tier: 'gold' },
  'ended by time alone': { status: 'active', cancelAtDays: 5, laterDays: 5.1, tier: 'free' },
};

type Asked = {
  app: App;
  organisationId: string;
  slug: string;
  owner: Caller;
  key: Caller;
  deployment: Caller;
  operator: Caller;
};

/** The tier whose limit of projects it is. */
const tierOfLimit = (limit: number | null) =>
  billing.app.plans.tiers.find(({ limits }) => limits.projects === limit)?.tier;

/** The readers by the file that reads the plan. Each returns the tier by which it acts. */
const readers: Record<string, (asked: Asked) => Promise<(string | undefined)[]>> = {
  'router/sessions.ts': async ({ owner }) => [(await owner.sessions.verify()).organisation?.tier],
  'auth/tokens/issue-token.ts': async ({ owner, key }) =>
    Promise.all([owner, key].map(async (caller) => String(decodeJwt((await caller.tokens.issue({})).token).tier))),
  'billing/summary/read-subscription.ts': async ({ owner }) => {
    const { plan, features, usage } = await owner.subscription.read();
    const limit = usage.find(({ meter }) => meter === 'projects')?.limit ?? null;
    const overview = await owner.subscription.overviewWithHistory();
    return [plan.tier, features.sso ? 'gold' : 'free', tierOfLimit(limit), overview.plan.tier];
  },
  'billing/summary/read-entitlements.ts': async ({ owner, key, deployment, organisationId, slug }) => {
    const answers = await Promise.all([
      owner.entitlements.get({ organisation: slug }),
      key.entitlements.get({ organisation: organisationId }),
      deployment.entitlements.get({ organisation: slug }),
      deployment.entitlements.get({ organisation: organisationId }),
    ]);
    const { allowed } = await deployment.entitlements.check({ organisation: slug, name: 'sso' });
    return [...answers.map(({ plan }) => plan.tier), allowed ? 'gold' : 'free'];
  },
  'billing/summary/list-organisations.ts': async ({ deployment, organisationId }) => {
    const { organisations } = await deployment.organisations.list({ limit: 1000 });
    return [organisations.find(({ id }) => id === organisationId)?.tier];
  },
  'operators/organisations/find-organisations.ts': async ({ operator, organisationId, slug }) => {
    const { organisations } = await operator.operators.organisations({ search: slug });
    const page = await operator.operators.organisation({ organisation_id: organisationId });
    return [organisations.find(({ id }) => id === organisationId)?.plan.tier, page.plan.tier];
  },
  'billing/usage/count.ts': async ({ key, deployment, organisationId }) => {
    const request = { organisation: organisationId, meter: 'projects', amount: 1 };
    const idempotency_key = `${Math.random()}`;
    const { limit } = await key.usage.reserve({ ...request, idempotency_key });
    const other = await deployment.usage.reserve({ ...request, idempotency_key: `${idempotency_key}-2` });
    return [tierOfLimit(limit), tierOfLimit(other.limit)];
  },
  'billing/usage/member-room.ts': async ({ app, organisationId }) => {
    // Two members, as many as the free plan allows.
    const room = app.db.transaction((tx) => requireRoomForMember(app, tx, organisationId));
    return [
      await room.then(
        () => 'gold',
        (error) => (isAppError(error) ? 'free' : String(error)),
      ),
    ];
  },
  'billing/actions/confirm-payment.ts': async ({ owner }) => [(await owner.billing.confirm()).tier],
  'members/leaving/delete-account.ts': async ({ owner, organisationId }) => {
    const { ends } = await owner.leaving.deletion();
    return [ends.find(({ organisation }) => organisation.id === organisationId)?.tier];
  },
};

/** What follows the plan and says no tier, with the test of it. */
const withoutTier = ['billing/usage/report.ts'];

test('every file that reads a plan is a reader here', () => {
  const source = path.resolve(import.meta.dirname, '..');
  const files = fs
    .globSync('**/*.ts', { cwd: source, exclude: (name) => /\.test\.ts$|^testing/.test(name) })
    .filter((file) => !/\.test\.ts$|^testing\//.test(file) && file !== 'organisations/plan.ts')
    .filter((file) => /\b(currentPlan|readPlan)\(/.test(fs.readFileSync(path.join(source, file), 'utf8')));
  expect(files.toSorted()).toEqual([...Object.keys(readers), ...withoutTier].toSorted());
});

describe.each(Object.entries(states))(
  'a subscription that is %s',
  (_, { status, cancelAtDays, laterDays = 0, tier }) => {
    let asked: Asked;
    beforeAll(async () => {
      const { principal, subscription } = await makeSubscriber(billing, 'gold');
      await billing.settled();
      const { organisationId } = principal;
      await addMember(billing, organisationId, 'viewer');
      const operator = await makeMember(billing);
      await billing.app.db.update(users).set({ operator: true }).where(eq(users.id, operator.user.id));

      // The provider is not asked, so that the state is the event's.
      const alone: App = { ...billing.app, syncs: noSyncs };
      const created = Math.floor(alone.now().getTime() / 1000) + 60;
      const cancel_at = cancelAtDays === undefined ? null : Math.floor(created + cancelAtDays * 86_400);
      await deliver(
        alone,
        makeEvent(alone, 'customer.subscription.updated', { ...subscription, status, cancel_at }, { created }),
      );

      const later: App = {
        ...alone,
        payment: null,
        now: () => new Date((created + 1) * 1000 + laterDays * dayMilliseconds),
      };
      const test = { ...billing, app: later };
      const callerOf = async (user: { id: string }, organisation: string) => {
        const token = await startSession(later, { userId: user.id, organisationId: organisation, client: testClient });
        return callerFor(test, await readSession(later, token));
      };
      const { key } = await makeKey(test, { organisationId });
      asked = {
        app: later,
        organisationId,
        slug: principal.organisation?.slug ?? '',
        owner: await callerOf(principal.user, organisationId),
        operator: await callerOf(operator.user, operator.organisationId),
        key: callerFor(test, await readKey(later, key)),
        deployment: callerFor(test, await readKey(later, deploymentKey)),
      };
    });

    test.each(Object.entries(readers))(`is ${tier} in %s`, async (_, read) => {
      const tiers = await read(asked);
      expect(tiers).toEqual(tiers.map(() => tier));
    });

    test(`is ${tier} in the feed, once the job of each minute has run`, async () => {
      await decideDuePlans(asked.app);
      const { app, organisationId } = asked;
      const [told] = await app.sql<{ tier: string }[]>`
      select data ->> 'tier' as tier from changes
      where organisation_id = ${organisationId} and type = 'plan.changed' order by id desc limit 1`;
      expect(told?.tier).toBe(tier);
    });
  },
);
