import { linkFor, newEmail, passPhrase } from '../support/people.ts';
import { startCollector } from '../support/servers/collector.ts';
import { expect, sandboxSecrets, startService, test } from '../support/service.ts';

function tokenOf(link: string): string {
  return new URL(link).searchParams.get('token') ?? '';
}

test('no secret that a whole story uses is in the log, the metrics or the traces', async ({ browser }) => {
  const collector = await startCollector();
  const service = await startService({
    environment: {
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'json',
      METRICS_TOKEN: 'a-metrics-token-of-a-story',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    },
  });
  const context = await browser.newContext({ baseURL: service.baseUrl });
  const page = await context.newPage();
  const secrets = new Set([...Object.values(sandboxSecrets), 'a-metrics-token-of-a-story', passPhrase]);
  page.on('request', (request) => {
    const { searchParams } = new URL(request.url());
    for (const name of ['state', 'nonce', 'code', 'token']) {
      const value = searchParams.get(name);
      if (value) secrets.add(value);
    }
  });
  async function keepCookies(): Promise<void> {
    for (const { name, value } of await context.cookies())
      if (name !== 'theme' && value.length > 20) secrets.add(value);
  }

  const email = newEmail('secret');
  const wrong = 'a wrong pass phrase that was typed';
  secrets.add(wrong);
  await context.request.post('/api/signup', { data: { email, password: passPhrase, org_name: 'Secrets' } });
  await keepCookies();
  const link = await linkFor(service, email);
  secrets.add(tokenOf(link));
  await page.goto(link);
  await page.goto(link);
  await context.request.post('/api/login', { data: { email, password: wrong } });
  await context.request.post('/api/login', { data: { email, password: passPhrase } });
  await keepCookies();
  await service.approve(email);
  const { stdout } = await service.operator('password-link', email);
  secrets.add(tokenOf(stdout.trim()));
  const checkout = await context.request.post('/api/billing/checkout', { data: { tier: 'silver' } });
  expect(checkout.status()).toBe(200);
  const { organisation } = await (await context.request.get('/api/session')).json();
  const invited = await context.request.post('/api/trpc/members.invite', {
    data: { organisation_id: organisation.id, role: 'viewer' },
  });
  const invitation = (await invited.json()).result.data.url;
  secrets.add(tokenOf(invitation));
  await page.goto(invitation);
  await page.goto(`${invitation}x`);
  await page.getByRole('link', { name: 'Continue', exact: true }).click();
  const { stdout: key } = await service.operator('api-key', 'create', '--name', 'Secret', '--scope', 'WRITE');
  secrets.add(key.trim());
  for (const authorization of [`Bearer ${key.trim()}`, `Bearer ${key.trim()}x`, `Basic ${key.trim()}`]) {
    await context.request.get('/api/organisations', { headers: { authorization } });
    await context.request.post('/api/usage/reserve', { headers: { authorization }, data: { organisation: 7 } });
    await context.request.get('/api/changes?after=wrong', { headers: { authorization } });
  }
  await context.request.post('/webhooks/payment', {
    data: { type: 'x' },
    headers: { 'payment-signature': 't=1,v1=deadbeef' },
  });
  await context.request.post('/api/logout');
  await page.goto('/auth/idp/start');
  await page.getByLabel('E-mail address').fill(email);
  await page.getByRole('button', { name: 'Create and continue' }).click();
  await page.waitForURL(`${service.baseUrl}/**`);
  await keepCookies();
  await page.goto('/auth/idp/callback?state=a-forged-state-of-somebody&code=a-forged-code-of-somebody');
  const password = 'quite another pass phrase';
  secrets.add(password);
  await context.request.post('/api/trpc/accounts.setPassword', { data: { token: tokenOf(stdout.trim()), password } });
  const scraped = await context.request.get('/metrics', {
    headers: { authorization: 'Bearer a-metrics-token-of-a-story' },
  });
  const metrics = await scraped.text();
  await service.stop();
  await collector.stop();

  const log = service.printed();
  expect(log).toContain('/auth/idp/callback');
  expect(secrets.size).toBeGreaterThan(13);
  expect(metrics).toContain('way="identity_provider"');
  expect(collector.received()).toContain('/auth/idp/callback');
  for (const [where, text] of Object.entries({ log, metrics, traces: collector.received() })) {
    for (const secret of secrets) expect(text, `the ${where} hold ${secret}`).not.toContain(secret);
    expect(text).not.toContain(encodeURIComponent(passPhrase));
  }
  for (const text of [metrics, collector.received()]) expect(text).not.toContain(email);

  // In their place the log names users by pseudonyms, and the reason of a refusal by its code.
  const lines = log.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const requests = (route: string, status: number) =>
    lines.filter((line) => line.message === 'request' && line.route === route && line.status === status);
  const pseudonym = expect.stringMatching(/^[0-9a-f]{16}$/);
  expect(requests('/api/billing/checkout', 200)).toMatchObject([{ user: pseudonym, organisation: pseudonym }]);
  expect(requests('/api/login', 401)).toMatchObject([{ code: 'UNAUTHENTICATED' }]);
  expect(requests('/api/usage/reserve', 400)[0]).toMatchObject({
    code: 'VALIDATION',
    fields: expect.arrayContaining(['organisation']),
  });
  expect(lines).toContainEqual(
    expect.objectContaining({ message: 'A delivery to /webhooks/payment was refused.', times: 1 }),
  );
  for (const line of lines.filter(({ message }) => message === 'request')) {
    expect(JSON.stringify(line)).not.toContain(organisation.id);
  }
});
