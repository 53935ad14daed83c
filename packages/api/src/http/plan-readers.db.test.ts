import fs from 'node:fs';
import path from 'node:path';
import { eq } from 'drizzle-orm';
import { decodeJwt } from 'jose';
import type Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../app.ts';
import { readSession, startSession } from '../auth/sessions/session.ts';
import { decideDuePlans } from '../billing/entitlement/decide-plan.ts';
import { defaultPlans } from '../billing/plans/default-plans.ts';
import { noSyncs } from '../billing/sync/sync-queue.ts';
import { requireRoomForMember } from '../billing/usage/member-room.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { isAppError } from '../platform/errors.ts';
import type { Caller } from '../router/root.ts';
import { type BillingTest, makeMember, makeSubscriber, startBillingTest } from '../testing/billing.ts';
import { addMember, callerFor, testClient } from '../testing/factories.ts';
import { makeKey } from '../testing/keys.ts';
import { deliver, makeEvent } from '../testing/payment/payment-events.ts';
import { createEndpoints } from './answer-endpoint.ts';
import { cookieJar } from './cookies.ts';
import { readBody } from './read-body.ts';

/**
 * Every reader of the plan × every status of the subscription that decides it: all must say the same. The states come by
 * the webhook, and the readers are asked as their callers ask them: the endpoints by a request, pages by the router.
 */
let billing: BillingTest;
let deploymentKey: string;
let managingKey: string;
beforeAll(async () => {
  const environment = { TOKEN_TTL_SECONDS: '300', SECRET_KEY: 'a secret of thirty-two characters or more' };
  billing = await startBillingTest({ environment });
  deploymentKey = (await makeKey(billing)).key;
  managingKey = (await makeKey(billing, { scope: 'MANAGE' })).key;
});
afterAll(() => billing.close());

type State = {
  when: string;
  tier: 'gold' | 'free';
  /** Times in days from the event. */
  cancelAt?: number;
  readAt?: number;
  /** Whether the subscription has ended, so that its times are null. */
  ended?: boolean;
};

/** What an event says of a subscription to Gold that was active. A status of the provider that is missing here does not compile. */
const states: Record<Stripe.Subscription.Status | 'on_holiday', State[]> = {
  active: [
    { when: 'running', tier: 'gold' },
    { when: 'set to end', tier: 'gold', cancelAt: 5, readAt: 4.9 },
    { when: 'ended by time alone', tier: 'free', cancelAt: 5, readAt: 5.1, ended: true },
  ],
  trialing: [{ when: 'running', tier: 'gold' }],
  past_due: [
    { when: 'in its grace', tier: 'gold', readAt: 6.9 },
    { when: 'after its grace', tier: 'free', readAt: 7.1 },
    { when: 'ended in its grace', tier: 'free', cancelAt: 5, readAt: 5.1, ended: true },
  ],
  unpaid: [
    { when: 'running', tier: 'free' },
    { when: 'set to end', tier: 'free', cancelAt: 5, readAt: 4.9 },
    { when: 'ended by time alone', tier: 'free', cancelAt: 5, readAt: 5.1, ended: true },
  ],
  paused: [{ when: 'running', tier: 'free' }],
  incomplete: [{ when: 'running', tier: 'free' }],
  incomplete_expired: [{ when: 'final', tier: 'free', ended: true }],
  canceled: [{ when: 'final', tier: 'free', ended: true }],
  on_holiday: [{ when: 'not known here', tier: 'free' }],
};

/** What a reader says of the plan. Each says the tier, and some say more. */
type Said = {
  tier: string | undefined;
  status?: string;
  cancel_at_period_end?: boolean;
  current_period_end?: string | null;
  ends_at?: string | null;
};

type Asked = {
  app: App;
  organisationId: string;
  slug: string;
  owner: Caller;
  operator: Caller;
  /** Asks an endpoint with the owner's session, a key of the organisation or one of the deployment's, and returns its JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON of many endpoints, which the tests compare.
  ask: (as: 'session' | 'key' | 'deployment' | 'managing', request: string, body?: object) => Promise<any>;
};

const { tiers } = defaultPlans;
const tierOfLimit = (limit: number | null) => tiers.find(({ limits }) => limits.projects === limit)?.tier;
const tierOfFeature = (has: boolean) => (has ? 'gold' : 'free');

/** The readers by the file that reads the plan. */
const readers: Record<string, (asked: Asked) => Promise<Said[]>> = {
  'router/sessions.ts': async ({ ask }) => {
    const { tier } = (await ask('session', 'GET /api/session')).organisation;
    return [{ tier }];
  },
  'auth/tokens/issue-token.ts': async ({ ask }) => {
    const answers = [await ask('session', 'POST /api/token', {}), await ask('key', 'POST /api/token', {})];
    return answers.map(({ token }) => ({ tier: String(decodeJwt(token).tier) }));
  },
  'billing/summary/read-subscription.ts': async ({ ask, owner }) => {
    const { plan, features, usage } = await ask('session', 'GET /api/subscription');
    const { limit } = usage.find(({ meter }: { meter: string }) => meter === 'projects');
    const page = await owner.subscription.overviewWithHistory();
    const { tier, status, cancel_at_period_end, current_period_end, ends_at } = page.plan;
    const shown = { tier, status, cancel_at_period_end, current_period_end, ends_at };
    const { name: _named, price: _price, ...said } = plan;
    return [said, { tier: tierOfFeature(features.audit_log) }, { tier: tierOfLimit(limit) }, shown];
  },
  'billing/summary/read-entitlements.ts': async ({ ask, organisationId, slug }) => {
    const requests = [
      ['session', slug],
      ['key', organisationId],
      ['deployment', slug],
      ['deployment', organisationId],
    ] as const;
    const said: Said[] = [];
    for (const [as, id] of requests) {
      const { plan, features, usage } = await ask(as, `GET /api/organisations/${id}/entitlements`);
      const { limit } = usage.find(({ meter }: { meter: string }) => meter === 'projects');
      const { tier, status, ends_at } = plan;
      said.push({ tier, status, ends_at }, { tier: tierOfFeature(features.audit_log) }, { tier: tierOfLimit(limit) });
      const one = await ask(as, `GET /api/organisations/${id}/entitlements/audit_log`);
      const other = await ask(as, `GET /api/organisations/${id}/entitlements/projects`);
      said.push({ tier: tierOfFeature(one.allowed) }, { tier: tierOfLimit(other.limit) });
    }
    return said;
  },
  'auth/sessions/target-organisation.ts': async ({ ask, organisationId }) => {
    const { organisations } = await ask('deployment', 'GET /api/organisations?limit=1000');
    const listed = organisations.find(({ id }: { id: string }) => id === organisationId);
    const read = await ask('managing', `GET /api/organisations/${organisationId}`);
    return [{ tier: listed.tier }, { tier: read.tier }];
  },
  'operators/organisations/read-organisations.ts': async ({ operator, organisationId, slug }) => {
    const { organisations } = await operator.operators.organisations({ search: slug });
    const page = await operator.operators.organisation({ organisation_id: organisationId });
    return [...organisations.filter(({ id }) => id === organisationId), page].map(
      ({ plan: { name: _, ...said } }) => said,
    );
  },
  'billing/usage/count.ts': async ({ ask, organisationId }) => {
    const request = { organisation: organisationId, meter: 'projects', amount: 1 };
    const said: Said[] = [];
    for (const as of ['key', 'deployment'] as const) {
      const { limit } = await ask(as, 'POST /api/usage/reserve', { ...request, idempotency_key: crypto.randomUUID() });
      said.push({ tier: tierOfLimit(limit) });
    }
    const set = await ask('deployment', 'PUT /api/usage/projects', { organisation: organisationId, used: 0 });
    return [...said, { tier: tierOfLimit(set.limit) }];
  },
  'billing/usage/holds.ts': async ({ ask, organisationId }) => {
    const request = {
      organisation: organisationId,
      meter: 'projects',
      expires: 60,
      idempotency_key: crypto.randomUUID(),
    };
    const { hold, limit } = await ask('key', 'POST /api/usage/reserve', request);
    const released = await ask('key', 'POST /api/usage/release', { hold });
    return [{ tier: tierOfLimit(limit) }, { tier: tierOfLimit(released.limit) }];
  },
  'billing/usage/member-room.ts': async ({ app, organisationId }) => {
    // Two members, as many as the free plan allows.
    const room = app.db.transaction((tx) => requireRoomForMember(app, tx, organisationId));
    const tier = await room.then(
      () => 'gold',
      (error) => (isAppError(error) ? 'free' : String(error)),
    );
    return [{ tier }];
  },
  'billing/actions/confirm-payment.ts': async ({ owner }) => [{ tier: (await owner.billing.confirm()).tier }],
  'members/leaving/delete-account.ts': async ({ owner, organisationId }) => {
    const { ends } = await owner.leaving.deletion();
    return [{ tier: ends.find(({ organisation }) => organisation.id === organisationId)?.tier }];
  },
};

/**
 * What follows the plan and says no tier: the period of a counter is taken from it (history.db.test.ts,
 * own-numbers.db.test.ts), whether a domain approves a further organisation (create-organisation.db.test.ts), and
 * whether the audit log is included (read-audit-log.db.test.ts).
 */
const withoutTier = [
  'billing/usage/report-usage.ts',
  'billing/usage/correct-usage.ts',
  'members/create-organisation.ts',
  'members/read-audit-log.ts',
];

const source = path.resolve(import.meta.dirname, '..');
const sources = fs
  .globSync('**/*.ts', { cwd: source })
  .filter((file) => !/\.test\.ts$|^testing\//.test(file) && file !== 'organisations/plan.ts')
  .map((file) => ({ file, text: fs.readFileSync(path.join(source, file), 'utf8') }));

test('every file that reads a plan is a reader here', () => {
  const files = sources.filter(({ text }) => /\b(currentPlan|readPlan)\(/.test(text)).map(({ file }) => file);
  expect(files.toSorted()).toEqual([...Object.keys(readers), ...withoutTier].toSorted());
});

test('every query reads all columns of a plan, so that none is left out', () => {
  const deciding = 'billing/entitlement/decide-plan.ts';
  const partial = /\borganisationPlans\.(?!organisationId\b|subscriptionId\b)\w+|\borganisation_plans\b/;
  const files = sources.filter(({ file, text }) => partial.test(text) && !file.startsWith('platform/db/'));
  expect(files.map(({ file }) => file)).toEqual([deciding]);
});

const cases = Object.entries(states).flatMap(([status, each]) => each.map((state) => ({ status, ...state })));

describe.each(cases)('$status, $when: $tier', ({ status, tier, cancelAt, readAt = 0, ended = false }) => {
  let asked: Asked;
  let expected: Required<Said>;
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
    const cancel_at = cancelAt === undefined ? null : Math.floor(created + cancelAt * 86_400);
    await deliver(
      alone,
      makeEvent(alone, 'customer.subscription.updated', { ...subscription, status, cancel_at }, { created }),
    );

    const time = (seconds: number | null | undefined) =>
      ended || seconds == null ? null : new Date(seconds * 1000).toISOString();
    expected = {
      tier,
      status,
      cancel_at_period_end: !ended && cancel_at !== null,
      current_period_end: time(subscription.items.data[0]?.current_period_end),
      ends_at: time(cancel_at),
    };
    const now = () => new Date((created + 1) * 1000 + readAt * dayMilliseconds);
    asked = await readersOf({ ...alone, payment: null, now }, principal, operator);
  });

  test.each(Object.entries(readers))('%s', async (_, read) => {
    const said = await read(asked);
    expect(said.length).toBeGreaterThan(0);
    for (const each of said) expect(each).toEqual(expectedOf(each));
  });

  test('the feed, once the job of each minute has run', async () => {
    await decideDuePlans(asked.app);
    const { changes } = await asked.ask('key', 'GET /api/changes?after=0&limit=1000');
    const told = changes.findLast(({ type }: { type: string }) => type === 'plan.changed').data;
    const { limits, features } = tiers.find((each) => each.tier === tier) ?? {};
    expect(told).toEqual({ tier, status, ends_at: expected.ends_at, limits, features });
  });

  /** What is expected of the fields that a reader says. */
  function expectedOf(said: Said) {
    return Object.fromEntries(Object.keys(said).map((name) => [name, expected[name as keyof Said]]));
  }
});

type Member = Awaited<ReturnType<typeof makeMember>>;

async function readersOf(app: App, owner: Member, operator: Member): Promise<Asked> {
  const { organisationId } = owner;
  const test = { ...billing, app };
  const sessionOf = (member: Member) =>
    startSession(app, { userId: member.user.id, organisationId: member.organisationId, client: testClient });
  const session = await sessionOf(owner);
  const { key } = await makeKey(test, { organisationId });
  const credentials = {
    session: { cookie: `session=${session}` },
    key: { authorization: `Bearer ${key}` },
    deployment: { authorization: `Bearer ${deploymentKey}` },
    managing: { authorization: `Bearer ${managingKey}` },
  };
  const answer = createEndpoints(app);
  return {
    app,
    organisationId,
    slug: owner.organisation?.slug ?? '',
    owner: callerFor(test, await readSession(app, session)),
    operator: callerFor(test, await readSession(app, await sessionOf(operator))),
    async ask(as, line, sent) {
      const [method = '', address] = line.split(' ');
      const { pathname, search } = new URL(address ?? '', 'http://localhost');
      const body = sent === undefined ? null : JSON.stringify(sent);
      const headers = new Headers({ ...credentials[as], 'content-type': 'application/json' });
      const { status, body: text } = await answer({
        method,
        pathname,
        search: search.slice(1),
        headers,
        cookies: cookieJar(headers.get('cookie') ?? undefined),
        client: { address: '127.0.0.1' },
        signal: new AbortController().signal,
        language: () => 'en',
        readBytes: (maxBytes) => readBody(new Response(body).body, maxBytes),
      });
      expect({ line, status, text }).toMatchObject({ status: 200 });
      return JSON.parse(text);
    },
  };
}
