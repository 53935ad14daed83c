import { describe, expect, test } from 'vitest';
import type { App } from '../../app.ts';
import { startSignIn } from '../../auth/sign-in/attempt.ts';
import type { Config } from '../../platform/config.ts';
import { openDatabase } from '../../platform/db/client.ts';
import { createIdentityProvider } from '../../platform/providers/identity.ts';
import { createMailer } from '../../platform/providers/mailer.ts';
import { checkDatabase } from './check-database.ts';
import { runChecks } from './doctor.ts';
import { useDoctorTest, wrongWith } from './testing/use-doctor-test.ts';

const running = useDoctorTest();

test('the report has a line for each check, and contains no secret', async () => {
  const { report, sound } = await runChecks(running.app);

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
    'right  Encryption',
    'right  Operators',
    'right  Database',
    // The tests' server runs without durability.
    'note   Database settings',
    'right  Migrations',
    'Everything is right.',
  ]);
  const { idp, payment, webhookSecrets } = running.app.config;
  for (const secret of [idp?.clientSecret, payment?.secretKey, ...webhookSecrets]) expect(report).not.toContain(secret);
});

test('what is off is a note', async () => {
  const { report, sound } = await runChecks({ ...running.app, idp: null, payment: null });
  expect(sound).toBe(true);
  expect(report).toContain('note   Identity provider: Off');
  expect(report).toContain('note   Payment provider: Billing is off');
});

describe('the service', () => {
  test('without a base URL', async () => {
    expect(await wrongWith(running.withConfig({ publicBaseUrl: null }))).toEqual([
      expect.stringMatching(/^Base URL: PUBLIC_BASE_URL is not set/),
    ]);
  });

  test('that does not answer there', async () => {
    running.sandbox.setServiceUrl('http://localhost:9');
    const found = await wrongWith(running.withConfig({ publicBaseUrl: 'http://localhost:9' }));
    running.sandbox.setServiceUrl(running.base);
    expect(found).toContainEqual(expect.stringMatching(/^Base URL: Nothing answers at http:\/\/localhost:9 /));
  });

  test('that is another program', async () => {
    running.instead = (_, response) => void response.writeHead(503).end();
    expect(await wrongWith(running.app)).toEqual([
      expect.stringMatching(/^Base URL: .* answers 503\. Start the service/),
      expect.stringMatching(/^Redirect address in use: /),
      expect.stringMatching(/^Webhook secret: .* refuses what is signed with it \(503\)/),
    ]);
  });

  test('whose proxy removes the cookie’s flags', async () => {
    running.instead = async (request, response) => {
      if (request.url !== '/auth/idp/start') return running.serve(request, response);
      const started = await startSignIn(running.app, { attemptCookie: null }, { address: '127.0.0.1' });
      response.writeHead(302, { location: started?.url ?? '', 'set-cookie': 'attempt=x; Path=/' }).end();
    };
    expect(await wrongWith(running.app)).toEqual([expect.stringMatching(/^Cookies: The answer’s cookie lacks/)]);
  });

  test('behind a proxy that is not configured', async () => {
    const found = await wrongWith(running.withConfig({ publicBaseUrl: 'https://localhost:9' }));
    expect(found).toContainEqual(expect.stringMatching(/^Proxies: TRUSTED_PROXIES is 0/));
  });

  test('behind another number of proxies than TRUSTED_PROXIES says', async () => {
    let arrived = '2';
    running.instead = (request, response) => {
      if (request.headers['x-gatehouse-doctor'] === running.app.pseudonymOf('doctor')) {
        response.setHeader('x-gatehouse-forwarded', arrived);
      }
      return running.serve(request, response);
    };
    expect(await wrongWith(running.withConfig({ trustedProxies: 1 }))).toEqual([
      expect.stringMatching(/^Proxies: TRUSTED_PROXIES is 1, but .* with 2 in X-Forwarded-For: .* Set it to 2\.$/),
    ]);
    expect(await wrongWith(running.withConfig({ trustedProxies: 2 }))).toEqual([]);
    arrived = '0';
    expect(await wrongWith(running.withConfig({ trustedProxies: 1 }))).toEqual([
      expect.stringMatching(/^Proxies: .* users can choose .* Set it to 0\.$/),
    ]);
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
    running.sandbox.setServiceUrl(running.base);
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
  test('that is away: the sentence of the start, and nothing of what needs it', async () => {
    const { sql, close } = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/gatehouse', pool: 1, prepare: false });
    const { report } = await runChecks({ ...running.app, sql });
    await close();
    expect(report).toMatch(
      /^WRONG {2}Database: The database does not answer \(ECONNREFUSED\): start it, or correct DATABASE_URL\.$/m,
    );
    expect(report).not.toMatch(/Cookies|Proxies|Webhook|Encryption/);
  });

  test('that refuses: the sentence of the start', async () => {
    const url = new URL(running.app.config.databaseUrl ?? '');
    url.pathname = '/nowhere';
    const { sql, close } = openDatabase({ url: url.href, pool: 1, prepare: false });
    const found = await wrongWith({ ...running.app, sql });
    await close();
    expect(found).toEqual([
      expect.stringMatching(/^Database: The database refuses: .* Create the database, or correct DATABASE_URL\.$/),
    ]);
  });

  test('whose clock differs from this machine’s, and behind a pooler whose sessions are serializable or read-only', async () => {
    const { app } = running;
    const [{ name } = { name: '' }] = await app.sql`select current_database() as name`;
    const { sql, close } = openDatabase({ url: app.config.databaseUrl ?? '', pool: 1, prepare: false });
    const set = (text: string) => app.sql.unsafe(`alter database ${name} ${text}`);
    await set("set default_transaction_isolation = 'serializable'");
    await set('set default_transaction_read_only = on');
    const findings = await checkDatabase({ ...app, sql, now: () => new Date(Date.now() + 600_000) });
    await set('reset all');
    await close();

    const found = findings.filter(({ level }) => level === 'wrong').map(({ sentence }) => sentence);
    expect(found).toEqual([
      expect.stringMatching(/^Transactions are serializable .* = 'read committed'; then restart/),
      expect.stringMatching(/^Transactions are read-only/),
      expect.stringMatching(/^This machine’s clock is (599|600|601) s ahead of the database’s/),
    ]);
  });

  test('without its migrations', async () => {
    const schema = 'drizzle_kept';
    await running.app.sql`alter schema drizzle rename to ${running.app.sql(schema)}`;
    const found = await wrongWith(running.app);
    await running.app.sql`alter schema ${running.app.sql(schema)} rename to drizzle`;
    expect(found).toEqual([expect.stringMatching(/^Migrations: The database has no tables yet: .*migrate\.$/)]);
  });
});
