import { type Connection, openDatabase } from '@gatehouse/api/platform/db/client';
import { freePort } from '@gatehouse/api/testing/free-ports';
import type { APIRequestContext, APIResponse } from '@playwright/test';
import { linkFor, makeOwner, newEmail, passPhrase } from '../support/people.ts';
import { cheapHashes } from '../support/processes/cheap-hashes.ts';
import { startWorld, type World } from '../support/processes/production-world.ts';
import { type ServiceProcess, startServed } from '../support/processes/served.ts';
import { startWebhookFan } from '../support/servers/webhook-fan.ts';
import { expect, type Service, test } from '../support/service.ts';

test.describe.configure({ mode: 'serial' });
test.skip(process.platform !== 'linux', 'It finds the processes to kill in /proc.');

let world: World;
let database: Connection;
let nodes: [ServiceProcess, ServiceProcess];
let service: Service;
const ends: (() => Promise<unknown>)[] = [];

test.beforeAll(async () => {
  const [first, second] = [await freePort(), await freePort()];
  world = await startWorld(`http://localhost:${first}`, { empty: true });
  ends.push(world.stop);
  // Both nodes start at the same moment on an empty database.
  const environment = { ...world.environment, ...cheapHashes };
  nodes = await Promise.all([startServed(first, environment), startServed(second, environment)]);
  ends.push(...nodes.map(({ stop }) => stop));
  service = world.asService(nodes[0]);
  database = openDatabase({ url: world.databaseUrl, pool: 2, prepare: true });
  ends.push(database.close);

  const fan = await startWebhookFan(nodes.map((node) => at(node, '/webhooks/payment')));
  ends.push(fan.stop);
  world.sandbox.payment.setWebhookUrl(fan.url);
  world.sandbox.payment.set({ retry_first_ms: 100 });
});
test.afterAll(async () => {
  for (const end of ends.reverse()) await end();
});
test.afterEach(() => {
  for (const { printed } of nodes) expect(printed()).not.toContain('"level":"error"');
});

function at({ port }: ServiceProcess, path: string): string {
  return `http://localhost:${port}${path}`;
}

/** Acts many times in parallel, alternating between the nodes. */
function overBoth<Result>(
  times: number,
  act: (node: ServiceProcess, index: number) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => act(index % 2 ? nodes[1] : nodes[0], index)));
}

/** Waits until every delivered event has been applied and every job has ended. */
async function settled(): Promise<void> {
  await world.sandbox.payment.deliveries.settled({ retries: true });
  await expect
    .poll(async () => {
      // The events of one second may leave a row in an older state until the sync that they ask for.
      const open = await database.sql`
        select name from pgboss.job where name <> '__pgboss__send-it' and state < 'completed'
        union all select id from payment_subscriptions where needs_sync`;
      return open.map(({ name }) => name);
    })
    .toEqual([]);
}

function signUp(node: ServiceProcess, email: string, organisation: string): Promise<Response> {
  return fetch(at(node, '/api/signup'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: passPhrase, org_name: organisation }),
  });
}

function ownedBy(organisation: string) {
  const { customers, subscriptions, checkout_sessions: sessions } = world.sandbox.payment.state();
  const own = Object.values(customers).filter(({ metadata }) => metadata.organisation === organisation);
  const isTheirs = ({ customer }: { customer?: unknown }) => own.some(({ id }) => id === customer);
  return {
    customers: own,
    live: Object.values(subscriptions).filter((each) => isTheirs(each) && each.status !== 'canceled'),
    open: Object.values(sessions).filter((each) => isTheirs(each) && each.status === 'open'),
  };
}

async function planOn(node: ServiceProcess, request: APIRequestContext) {
  return (await (await request.get(at(node, '/api/subscription'))).json()).plan;
}

/** Creates a signed-in owner. Returns a function that reads what the provider has of the organisation. */
async function makeBuyer(request: APIRequestContext): Promise<() => ReturnType<typeof ownedBy>> {
  const email = await makeOwner(service, request);
  await request.post('/api/login', { data: { email, password: passPhrase } });
  const { organisation } = await (await request.get(at(nodes[1], '/api/session'))).json();
  return () => ownedBy(organisation.id);
}

test('parallel sign-ups on both nodes make one account per address, one slug per organisation and one mail each, and a link is used once', async () => {
  const email = newEmail('crowd');
  const answers = await overBoth(20, (node) => signUp(node, email, 'The Same'));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await database.sql`select id from users where email = ${email}`).toHaveLength(1);

  const emails = Array.from({ length: 20 }, () => newEmail('neighbour'));
  await overBoth(emails.length, (node, index) => signUp(node, emails[index] ?? '', 'Crowded House'));
  const slugs = await database.sql`select slug from organisations where name = 'Crowded House'`;
  expect(new Set(slugs.map(({ slug }) => slug)).size).toBe(emails.length);

  await settled();
  const mails = emails.map((each) => world.sandbox.mailbox.messages(each).length);
  expect(mails).toEqual(emails.map(() => 1));

  const link = new URL(await linkFor(service, emails[0] ?? ''));
  const opened = await overBoth(50, (node) => fetch(at(node, `${link.pathname}${link.search}`)));
  expect(opened.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(opened.filter(({ status }) => status === 400)).toHaveLength(49);
});

test('parallel clicks on both nodes buy once and change once, and both show the provider’s state', async ({
  playwright,
}) => {
  const request = await playwright.request.newContext({ baseURL: service.baseUrl });
  const owned = await makeBuyer(request);
  const { payment } = world.sandbox;
  payment.set({ reorder_deliveries: true, duplicate_events: true });

  /** Clicks until it is answered: fifty at once may take longer than one may wait for the provider. */
  const click = async (node: ServiceProcess, action: string, data = {}): Promise<APIResponse> => {
    const answer = await request.post(at(node, `/api/billing/${action}`), { data });
    if ([502, 503].includes(answer.status())) return click(node, action, data);
    expect(answer.status(), await answer.text()).toBe(200);
    return answer;
  };
  const choose = (tier: string) => async (node: ServiceProcess) =>
    (await (await click(node, 'checkout', { tier })).json()).url as string;
  const pages = await overBoth(50, choose('silver'));
  expect(new Set(pages).size).toBe(1);
  expect(owned()).toMatchObject({ customers: { length: 1 }, open: { length: 1 }, live: [] });

  payment.payCheckout(pages[0] ?? '');
  // The events of the payment are still being delivered to both nodes.
  const portals = await overBoth(50, choose('gold'));
  expect(portals.every((url) => url.includes('/pay/portal/'))).toBe(true);
  await settled();
  expect(owned()).toMatchObject({ customers: { length: 1 }, open: [], live: { length: 1 } });
  for (const node of nodes) expect(await planOn(node, request)).toMatchObject({ tier: 'silver', status: 'active' });

  const [subscription] = owned().live;
  const gold = Object.values(payment.state().prices).find(({ lookup_key: key }) => key === 'gold_monthly');
  payment.portal(portals[49] ?? '').changePlan(subscription?.id ?? '', gold?.id ?? '');
  await overBoth(20, (node, index) => click(node, index % 4 < 2 ? 'cancel' : 'resume'));
  await settled();
  const [live, ...more] = owned().live;
  expect(more).toEqual([]);
  for (const node of nodes) {
    const plan = await planOn(node, request);
    expect(plan).toMatchObject({ tier: 'gold', status: 'active' });
    expect(plan.cancel_at_period_end).toBe(live?.cancel_at_period_end);
  }
  const [seen] = await database.sql`select count(*)::int as events from payment_events`;
  expect(seen?.events).toBe(new Set(payment.deliveries.list().map(({ event }) => event)).size);
  payment.resetSwitches();
  await request.dispose();
});

test('after a node is killed during a checkout, the other node repeats none of its steps', async ({ playwright }) => {
  const request = await playwright.request.newContext({ baseURL: service.baseUrl });
  const owned = await makeBuyer(request);
  // The provider carries the request out, and never answers.
  world.sandbox.payment.failNext('hang', { only: 'POST /v1/checkout/sessions', afterEffect: true });
  const lost = request.post(at(nodes[1], '/api/billing/checkout'), { data: { tier: 'silver' } }).catch(() => 'lost');
  await expect.poll(() => owned().open.length).toBe(1);
  await nodes[1].crash();
  expect(await lost).toBe('lost');
  world.sandbox.payment.resetSwitches();

  const [lease] = await database.sql`
    select extract(epoch from ends_at - clock_timestamp())::float as seconds from payment_leases`;
  expect(lease?.seconds).toBeGreaterThan(20);
  expect(lease?.seconds).toBeLessThanOrEqual(45);
  // Shortened, so that the test does not wait for it.
  await database.sql`update payment_leases set ends_at = clock_timestamp() + interval '1 second'`;

  const click = () => request.post('/api/billing/checkout', { data: { tier: 'silver' } });
  const answers = await Promise.all(Array.from({ length: 5 }, click));
  const urls = await Promise.all(answers.map(async (answer) => (await answer.json()).url));
  expect(owned()).toMatchObject({ customers: { length: 1 }, open: { length: 1 }, live: [] });
  expect(new Set(urls)).toEqual(new Set([owned().open[0]?.url]));
  expect(await database.sql`select name from payment_leases`).toEqual([]);
  await request.dispose();
});
