import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../app.ts';
import { setUpBilling } from '../../billing/actions/set-up-billing.ts';
import { receiveEvent } from '../../billing/events/receive-event.ts';
import type { Config } from '../../config.ts';
import { createIdentityProvider } from '../../providers/identity.ts';
import { createMailer } from '../../providers/mailer.ts';
import { startSignIn } from '../../sign-in/start-sign-in.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { examine } from './doctor.ts';

let running: TestApp;
let service: Server;
let base: string;

/** What a test lets the stand-in for the running service do instead. */
let instead: RequestListener | null = null;

beforeAll(async () => {
  service = createServer((request, response) => (instead ?? serve)(request, response));
  await new Promise<void>((resolve) => service.listen(0, 'localhost', resolve));
  base = `http://localhost:${(service.address() as AddressInfo).port}`;
  running = await startTestApp({ work: false, environment: { PUBLIC_BASE_URL: base } });
  running.sandbox.setServiceUrl(base);
  await setUpBilling(running.app);
});

afterAll(async () => {
  service.closeAllConnections();
  service.close();
  await running.close();
});

beforeEach(() => {
  instead = null;
  running.sandbox.payment.resetSwitches();
});

/** The running service, as far as the doctor looks at it. */
const serve: RequestListener = async (request, response) => {
  if (request.url === '/auth/idp/start') {
    const started = await startSignIn(running.app, { attemptCookie: null }, { address: '127.0.0.1' });
    const cookie = `attempt=${started?.cookie}; Path=/; HttpOnly; SameSite=Lax`;
    response.writeHead(302, { location: started?.url ?? '/login', 'set-cookie': cookie }).end();
  } else if (request.url === '/webhooks/payment') {
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part);
    const signature = String(request.headers['payment-signature']);
    const refused = await receiveEvent(running.app, { body: Buffer.concat(parts), signature }).catch((error) => error);
    response.writeHead(400).end(JSON.stringify({ error: refused.message }));
  } else {
    response.writeHead(request.url === '/healthz' ? 200 : 404).end();
  }
};

function withConfig(changes: Partial<Config>): App {
  return { ...running.app, config: { ...running.app.config, ...changes } };
}

/** The lines of what is wrong, each without its mark. */
async function wrongWith(app: App): Promise<string[]> {
  const { report, sound } = await examine(app);
  const lines = report.split('\n').filter((line) => line.startsWith('WRONG'));
  expect(sound).toBe(lines.length === 0);
  return lines.map((line) => line.slice('WRONG  '.length));
}

test('a line each where everything is right, and no secret in any', async () => {
  const { report, sound } = await examine(running.app);

  expect(sound).toBe(true);
  expect(report.split('\n').map((line) => line.replace(/: .*/, ''))).toEqual([
    'right  Base URL',
    'note   Cookies',
    'right  Redirect address',
    'right  Identity provider',
    'right  Mail server',
    'right  Payment provider',
    'right  Clock',
    'right  Price of Silver',
    'right  Price of Gold',
    'right  Portal',
    'right  Webhook secret',
    expect.stringMatching(/Webhook endpoint$/),
    'right  Database',
    'right  Migrations',
    'right  Addresses',
    'Everything is right.',
  ]);
  const { idp, payment, webhookSecrets } = running.app.config;
  for (const secret of [idp?.clientSecret, payment?.secretKey, ...webhookSecrets]) expect(report).not.toContain(secret);
});

test('what is off is a note', async () => {
  const { report, sound } = await examine({ ...running.app, idp: null, payment: null });
  expect(sound).toBe(true);
  expect(report).toContain('note   Identity provider: Off');
  expect(report).toContain('note   Payment provider: Billing is off');
});

describe('the service', () => {
  test('without a base URL', async () => {
    expect(await wrongWith(withConfig({ publicBaseUrl: null }))).toEqual([
      expect.stringMatching(/^Base URL: PUBLIC_BASE_URL is not set/),
    ]);
  });

  test('that does not answer there', async () => {
    running.sandbox.setServiceUrl('http://localhost:9');
    const found = await wrongWith(withConfig({ publicBaseUrl: 'http://localhost:9' }));
    running.sandbox.setServiceUrl(base);
    expect(found).toContainEqual(expect.stringMatching(/^Base URL: Nothing answers at http:\/\/localhost:9 /));
  });

  test('that is another one', async () => {
    instead = (_, response) => void response.writeHead(503).end();
    expect(await wrongWith(running.app)).toEqual([
      expect.stringMatching(/^Base URL: .* answers 503\. Start the service/),
      expect.stringMatching(/^Redirect address in use: /),
      expect.stringMatching(/^Webhook secret: .* refuses what is signed with it \(503\)/),
    ]);
  });

  test('whose proxy takes the cookie’s flags away', async () => {
    instead = async (request, response) => {
      if (request.url !== '/auth/idp/start') return serve(request, response);
      const started = await startSignIn(running.app, { attemptCookie: null }, { address: '127.0.0.1' });
      response.writeHead(302, { location: started?.url ?? '', 'set-cookie': 'attempt=x; Path=/' }).end();
    };
    expect(await wrongWith(running.app)).toEqual([expect.stringMatching(/^Cookies: The answer’s cookie lacks/)]);
  });

  test('behind a proxy that it does not know of', async () => {
    const found = await wrongWith(withConfig({ publicBaseUrl: 'https://localhost:9' }));
    expect(found).toContainEqual(expect.stringMatching(/^Proxies: TRUSTED_PROXIES is 0/));
  });
});

describe('the identity provider', () => {
  function withIdentity(changes: Partial<NonNullable<Config['idp']>>): App {
    const idp = running.app.config.idp;
    if (idp === null) throw new Error('The identity provider is off.');
    return { ...running.app, idp: createIdentityProvider({ ...idp, ...changes }) };
  }

  test('that does not know the redirect address', async () => {
    running.sandbox.setServiceUrl('http://localhost:9');
    const found = await wrongWith(running.app);
    running.sandbox.setServiceUrl(base);
    expect(found).toContainEqual(expect.stringMatching(/^Redirect address: .*Register http:.*\/auth\/idp\/callback/));
  });

  test('that does not know the client', async () => {
    expect(await wrongWith(withIdentity({ clientSecret: 'another' }))).toEqual([
      expect.stringMatching(/^Identity provider: It refuses our credentials/),
    ]);
  });

  test('that does not answer', async () => {
    const app = withIdentity({ authUrl: 'http://localhost:9/auth', tokenUrl: 'http://localhost:9/token' });
    expect(await wrongWith(app)).toEqual([
      expect.stringMatching(/^Redirect address: Nothing answers at IDP_AUTH_URL/),
      expect.stringMatching(/^Identity provider: Nothing answers at IDP_TOKEN_URL/),
    ]);
  });
});

describe('the mail server', () => {
  function withMail(smtpUrl: string | null): App {
    return { ...running.app, mail: createMailer({ ...running.app.config, smtpUrl }, running.app.log) };
  }

  test('that is not set', async () => {
    expect(await wrongWith(withMail(null))).toEqual([expect.stringMatching(/^Mail server: SMTP_URL is not set/)]);
  });

  test('that does not answer', async () => {
    expect(await wrongWith(withMail('smtp://127.0.0.1:9'))).toEqual([
      expect.stringMatching(/^Mail server: It cannot be used \(\w+\)\. Correct SMTP_URL/),
    ]);
  });
});

describe('the database', () => {
  test('without its migrations', async () => {
    const schema = 'drizzle_kept';
    await running.app.sql`alter schema drizzle rename to ${running.app.sql(schema)}`;
    const found = await wrongWith(running.app);
    await running.app.sql`alter schema ${running.app.sql(schema)} rename to drizzle`;
    expect(found).toEqual([expect.stringMatching(/^Migrations: The database has no tables yet: .*migrate\.$/)]);
  });
});
