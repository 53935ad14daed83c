import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { signInWithPassword } from '../../auth/sign-in/with-password.ts';
import { recordFailure } from '../../http/error-response.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { startAwakeClock } from '../../testing/awake-clock.ts';
import { makeOwner, makeSignUp, signUpOwner, testClient, testPassword } from '../../testing/factories.ts';
import { parseConfig } from '../config.ts';
import { isAppError } from '../errors.ts';
import { tracesUrl } from './open-telemetry.ts';
import { loadPseudonyms } from './pseudonyms.ts';
import { readMetrics } from './read-metrics.ts';
import { createTelemetry } from './telemetry.ts';
import { noTraces } from './traces.ts';

type Sent = { name: string; traceId: string; spanId: string; parentSpanId?: string; resource: Attribute[] };
type Attribute = { key: string; value: { stringValue?: string } };

/** A collector that receives spans as JSON, the exporter's format. */
async function startCollector(): Promise<{ url: string; spans: Sent[]; server: Server }> {
  const spans: Sent[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    if (request.url === '/otlp/v1/traces') {
      const { resourceSpans } = JSON.parse(body);
      for (const { resource, scopeSpans } of resourceSpans) {
        for (const { spans: sent } of scopeSpans) {
          spans.push(...sent.map((span: Sent) => ({ ...span, resource: resource.attributes })));
        }
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/otlp/`, spans, server };
}

let collector: Awaited<ReturnType<typeof startCollector>>;
let test: TestApp;
beforeAll(async () => {
  collector = await startCollector();
  const environment = {
    METRICS_TOKEN: 'a-token-of-the-telemetry-test',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    RATE_LIMITS: 'on',
  };
  test = await startTestApp({ environment });
});
afterAll(async () => {
  await test.close();
  collector.server.close();
});

async function readSeries(series: string): Promise<number | null> {
  const { text } = await readMetrics(test.app);
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

it('counts sign-ups, verifications, mails and sign-ins by their outcome', async () => {
  const { email } = await signUpOwner(test);
  const wrong = { email, password: 'not this pass phrase' };
  await expect(signInWithPassword(test.app, wrong, testClient)).rejects.toSatisfy(isAppError);
  await signInWithPassword(test.app, { email, password: testPassword }, testClient);

  expect(await readSeries('gatehouse_sign_ups_total{way="password"}')).toBe(1);
  expect(await readSeries('gatehouse_verifications_total{outcome="confirmed"}')).toBe(1);
  expect(await readSeries('gatehouse_sign_ins_total{way="password",outcome="ok"}')).toBe(1);
  expect(await readSeries('gatehouse_sign_ins_total{way="password",outcome="unauthenticated"}')).toBe(1);
  await expect.poll(() => readSeries('gatehouse_call_duration_seconds_count{to="mail",outcome="ok"}')).toBe(1);
  expect(await readSeries('gatehouse_job_duration_seconds_count{kind="verification-mail",outcome="ok"}')).toBe(1);
});

it('counts the refusals of a rate limit by its rule', async () => {
  const points = { 'resend-client': 'a client' };
  const attempts = Array.from({ length: 25 }, () => test.app.throttle.take(points).catch(() => {}));
  await Promise.all(attempts);
  expect(await readSeries('gatehouse_rate_limit_refusals_total{rule="resend-client"}')).toBe(5);
});

it('reports the waiting jobs and organisations of the whole service, and that the database answers', async () => {
  const before = (await readSeries('gatehouse_organisations_awaiting_approval')) ?? Number.NaN;
  await makeOwner(test, { approved: false });
  await makeSignUp(test);

  expect(await readSeries('gatehouse_database_up')).toBe(1);
  expect(await readSeries('gatehouse_organisations_awaiting_approval')).toBe(before + 1);
  expect(await readSeries('gatehouse_jobs_waiting{kind="payment-sync"}')).toBe(0);
  expect(await readSeries('gatehouse_subscriptions_to_sync')).toBe(0);
  expect(await readSeries('gatehouse_database_pool_size')).toBe(test.app.config.databasePool);
});

it('counts open and waiting transactions, and no ended ones', async () => {
  const pool = test.app.config.databasePool;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const transactions = Array.from({ length: pool + 3 }, () => test.app.db.transaction(() => held));
  await expect.poll(() => test.app.load).toMatchObject({ open: pool, waiting: 3 });

  release();
  await Promise.all(transactions);
  const failing = test.app.db.transaction(async () => Promise.reject(new Error('rolled back')));
  await expect(failing).rejects.toThrow('rolled back');
  await expect.poll(() => test.app.load).toEqual({ statements: 0, open: 0, waiting: 0 });
});

it('leaves out the levels of the service while the database is too busy to answer', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const transactions = Array.from({ length: test.app.config.databasePool }, () => test.app.db.transaction(() => held));
  await expect.poll(() => test.app.load.open).toBe(test.app.config.databasePool);
  const { text } = await readMetrics(test.app).finally(release);
  await Promise.all(transactions);

  expect(text).toContain('gatehouse_database_up 0\n');
  expect(text).toContain(`gatehouse_database_transactions{state="open"} ${test.app.config.databasePool}\n`);
  expect(text).not.toMatch(/^gatehouse_(organisations_awaiting|jobs|subscriptions)\w*[ {]/m);
  expect(await readSeries('gatehouse_database_up')).toBe(1);
});

it('the database itself ends the queries of the metrics that take too long', async () => {
  await test.app.db.transaction(async (tx) => {
    await tx.execute(sql`lock table payment_events in access exclusive mode`);
    expect((await readMetrics(test.app)).text).toContain('gatehouse_database_up 0\n');
    // Outside of the transaction, which sees what others do as it was at its first look.
    const reading = () => test.app.sql`
      select pid from pg_stat_activity where datname = current_database() and state = 'active'
        and query like '%gatehouse_jobs_waiting%' and pid <> pg_backend_pid()`;
    await expect.poll(async () => (await reading()).length).toBe(0);
  });
  expect(await readSeries('gatehouse_database_up')).toBe(1);
});

it('puts a request, its statements, its job and its mail into one trace, without parameter values', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const start = { name: 'POST /signup', kind: 'server', parent: traceparent } as const;
  const { email } = await test.app.traces.run(start, () => signUpOwner(test));
  const spansOfTrace = () => collector.spans.filter(({ traceId }) => traceId === '0af7651916cd43dd8448eb211c80319c');
  // The request's span ends after the mail's, and may be exported after it.
  const awaited = ['POST /signup', 'job verification-mail', 'mail send', 'insert sign_ups'];
  await expect.poll(() => spansOfTrace().map(({ name }) => name)).toEqual(expect.arrayContaining(awaited));

  const request = spansOfTrace().find(({ name }) => name === 'POST /signup');
  const job = spansOfTrace().find(({ name }) => name === 'job verification-mail');
  expect(request?.parentSpanId).toBe('b7ad6b7169203331');
  expect(job?.parentSpanId).toBe(request?.spanId);
  expect(spansOfTrace().find(({ name }) => name === 'mail send')?.parentSpanId).toBe(job?.spanId);
  const exported = JSON.stringify(collector.spans);
  for (const secret of [email, testPassword, '$argon2']) expect(exported).not.toContain(secret);
});

it('names the service and its instance as OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say', async () => {
  async function attributesWith(environment: Record<string, string>) {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const config = parseConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const { traces } = await createTelemetry(config, test.app.log);
    vi.unstubAllEnvs();
    const name = `work ${randomUUID()}`;
    await traces.run({ name, kind: 'server' }, async () => {});
    await traces.close();
    const span = collector.spans.find((each) => each.name === name);
    return Object.fromEntries((span?.resource ?? []).map(({ key, value }) => [key, value.stringValue]));
  }

  const own = await attributesWith({});
  expect(own).toMatchObject({
    'service.name': 'gatehouse',
    'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  expect(
    await attributesWith({
      OTEL_SERVICE_NAME: 'accounts',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=production,service.instance.id=node-1',
    }),
  ).toMatchObject({
    'service.name': 'accounts',
    'deployment.environment.name': 'production',
    'service.instance.id': 'node-1',
  });
});

it('stores when a job of each kind last succeeded', async () => {
  const sweepSeries = 'gatehouse_job_last_success_timestamp_seconds{kind="sweep"}';
  await test.app.sql`update job_successes set at = to_timestamp(1000)`;
  expect(await readSeries(sweepSeries)).toBe(1000);

  await test.app.db.transaction((tx) => test.app.jobs.send(tx, 'sweep', {}));
  test.app.jobs.wake('sweep');
  await expect.poll(() => readSeries(sweepSeries)).toBeGreaterThan(Date.now() / 1000 - 60);
  expect(await readSeries('gatehouse_job_last_success_timestamp_seconds{kind="payment-sweep"}')).toBe(1000);
});

it('reports the flagged events, the subscribed organisations by tier and the skew of the clocks', async () => {
  expect(await readSeries('gatehouse_payment_events_flagged')).toBe(0);
  expect(Math.abs((await readSeries('gatehouse_database_clock_skew_seconds')) ?? 99)).toBeLessThan(2);
  await expect.poll(() => readSeries('gatehouse_organisations_subscribed{tier="silver"}')).toBe(0);
});

it('the log line of a failed sign-in names the account by its pseudonym, and nobody for an unknown address', async () => {
  const { email, userId } = await makeOwner(test);
  const failureOf = async (typed: string) => {
    const state: Parameters<typeof recordFailure>[0] = { app: test.app, requestId: 'request' };
    const attempt = signInWithPassword(test.app, { email: typed, password: 'not this pass phrase' }, testClient);
    await attempt.catch((error) => recordFailure(state, error));
    return state.failure;
  };
  expect(await failureOf(email)).toEqual({ code: 'UNAUTHENTICATED', user: test.app.pseudonymOf(userId) });
  expect(await failureOf('nobody@company.example')).toEqual({ code: 'UNAUTHENTICATED' });
});

it('names a user by the same pseudonym on every node of a deployment, and by another one elsewhere', async () => {
  const id = randomUUID();
  const again = await loadPseudonyms(test.app.db);
  expect(again(id)).toMatch(/^[0-9a-f]{16}$/);
  expect(again(id)).toBe(test.app.pseudonymOf(id));
  await test.app.sql`delete from deployment_secrets where name = 'log-pseudonyms'`;
  expect((await loadPseudonyms(test.app.db))(id)).not.toBe(again(id));
});

it('records nothing while metrics and traces are off', async () => {
  const { metrics, traces, database, load } = await createTelemetry(parseConfig({}), test.app.log);
  metrics.count('gatehouse_sign_ups_total', { way: 'password' });
  expect(await metrics.expose([])).toMatchObject({ text: '' });
  expect(traces).toBe(noTraces);
  expect(database).toEqual({});
  expect(load.statements).toBe(0);
});

it('closes in time while the collector is unavailable', async () => {
  const config = parseConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
  const { traces } = await createTelemetry(config, test.app.log);
  for (let each = 0; each < 3000; each++) await traces.run({ name: 'work', kind: 'server' }, async () => {});
  const awake = startAwakeClock();
  await traces.close();
  expect(awake()).toBeLessThan(4000);
});

it.each([
  ['http://collector:4318', 'http://collector:4318/v1/traces'],
  ['http://collector:4318/', 'http://collector:4318/v1/traces'],
  ['https://collector.example/otlp', 'https://collector.example/otlp/v1/traces'],
])('sends traces for %s to %s', (endpoint, expected) => {
  expect(tracesUrl(endpoint)).toBe(expected);
});
