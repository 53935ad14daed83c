import { makeOwner, passPhrase } from '../support/people.ts';
import { send } from '../support/raw-request.ts';
import { startCollector } from '../support/servers/collector.ts';
import { expect, type Service, startService, test } from '../support/service.ts';

const token = 'a-metrics-token-of-a-story';

function scrape(service: Service) {
  return send(service, '/metrics', { headers: { authorization: `Bearer ${token}` } });
}

test('without METRICS_TOKEN there are no metrics, with or without an Authorization header', async ({ service }) => {
  for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
    const answer = await send(service, '/metrics', { method, headers: { authorization: `Bearer ${token}` } });
    expect(answer.status, method).toBe(404);
  }
});

test('sign-ups and sign-ins are in the metrics and in a trace, without personal data', async ({ playwright }) => {
  const collector = await startCollector();
  const service = await startService({
    environment: { METRICS_TOKEN: token, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  const request = await playwright.request.newContext({ baseURL: service.baseUrl });
  const email = await makeOwner(service, request);
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  await request.post('/api/login', { data: { email, password: 'not this one' } });
  await request.post('/api/login?from=somewhere', {
    data: { email, password: passPhrase },
    headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
  });
  await request.get('/nothing/of/that/kind');
  expect((await request.post('/api/billing/checkout', { data: { tier: 'silver' } })).status()).toBe(200);

  // A call is measured when it has ended, which is after its mail has arrived.
  for (const line of [
    'gatehouse_call_duration_seconds_count{to="mail",outcome="ok"} 1',
    'gatehouse_jobs_waiting{kind="verification-mail"} 0',
  ])
    await expect.poll(async () => (await scrape(service)).text.split('\n')).toContain(line);
  const { status, headers, text } = await scrape(service);
  expect(status).toBe(200);
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(headers['cache-control']).toBe('no-store');
  for (const line of [
    'gatehouse_sign_ups_total{way="password"} 1',
    'gatehouse_verifications_total{outcome="confirmed"} 1',
    'gatehouse_sign_ins_total{way="password",outcome="ok"} 1',
    'gatehouse_sign_ins_total{way="password",outcome="unauthenticated"} 1',
    'gatehouse_http_request_duration_seconds_count{method="POST",route="/api/login",status="200"} 1',
    'gatehouse_http_request_duration_seconds_count{method="GET",route="none",status="404"} 1',
    'gatehouse_database_up 1',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
  expect(text).toMatch(/^gatehouse_call_duration_seconds_count\{to="payment",outcome="ok"\} [1-9]/m);
  expect(text).toMatch(/^process_cpu_seconds_total /m);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);

  await service.stop();
  const signIn = collector.spans.find((span) => span.traceId === traceId && span.name === 'POST /api/login');
  expect(signIn).toMatchObject({ parentSpanId: 'b7ad6b7169203331', kind: 2 });
  const below = collector.spans.filter(({ parentSpanId }) => parentSpanId === signIn?.spanId);
  expect(below.map(({ name }) => name)).toContain('insert sessions');
  expect(collector.received()).toContain('"service.name"');
  const names = collector.spans.map(({ name }) => name);
  for (const name of ['GET /verify', 'job verification-mail', 'mail send', 'payment ask'])
    expect(names).toContain(name);
  for (const secret of [email, passPhrase, token, 'from=somewhere', 'nothing/of/that', 'sk_test_sandbox']) {
    expect(text, `the metrics hold ${secret}`).not.toContain(secret);
    expect(collector.received(), `the traces hold ${secret}`).not.toContain(secret);
  }
  await request.dispose();
  await collector.stop();
});

test('the metrics are readable with the bearer token only', async () => {
  // No collector listens: neither requests nor the shutdown wait for it.
  const service = await startService({
    environment: { METRICS_TOKEN: token, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
  });
  for (const authorization of [undefined, token, `Bearer ${token}x`, 'Bearer', `Basic ${token}`]) {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const answer = await send(service, '/metrics', { headers });
    expect(answer.status, authorization).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'UNAUTHENTICATED' });
  }
  expect((await scrape(service)).status).toBe(200);
  const head = await send(service, '/metrics', { method: 'HEAD', headers: { authorization: `Bearer ${token}` } });
  expect(head).toMatchObject({ status: 200, text: '' });
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const answer = await send(service, '/metrics', { method });
    expect(answer.status, method).toBe(405);
    expect(answer.headers.allow).toBe('GET, HEAD');
  }

  const started = performance.now();
  await service.stop();
  expect(performance.now() - started).toBeLessThan(10_000);
});
