import { freePort } from '@gatehouse/api/testing/free-ports';
import { type Sandbox, startSandbox } from '@gatehouse/sandbox/sandbox';
import { chooseAtProvider } from '../support/at-provider.ts';
import { newEmail, passPhrase } from '../support/people.ts';
import { type ServiceProcess, startServed } from '../support/processes/served.ts';
import { type Answer, send } from '../support/raw-request.ts';
import { expect, type Service, test } from '../support/service.ts';
import { cookiesOver, gone, openCookieBrowser, setBy } from '../support/service-cookies.ts';

const product = 'https://app.company.example';
const asJson = { 'content-type': 'application/json' };
const asForm = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };

for (const scheme of ['http', 'https'] as const) {
  test.describe(`over ${scheme}`, () => {
    const cookies = cookiesOver(scheme);
    let world: Sandbox;
    let served: ServiceProcess;
    let service: Pick<Service, 'baseUrl'>;
    let publicUrl = '';

    test.beforeAll(async () => {
      const port = await freePort();
      const listening = `http://localhost:${port}`;
      publicUrl = scheme === 'https' ? 'https://id.company.example' : listening;
      const idp = { clientId: 'a-client', clientSecret: 'sandbox-client-secret' };
      const payment = { secretKey: 'sk_test_sandbox', webhookSecret: 'sandbox_webhook_secret' };
      world = await startSandbox({ port: 0, smtpPort: 0, dataDir: null, serviceUrl: publicUrl, idp, payment });
      served = await startServed(port, {
        PUBLIC_BASE_URL: publicUrl,
        SMTP_URL: world.smtpUrl,
        MAIL_FROM: 'post@company.example',
        IDP_CLIENT_ID: idp.clientId,
        IDP_CLIENT_SECRET: idp.clientSecret,
        IDP_AUTH_URL: world.idp.authUrl,
        IDP_TOKEN_URL: world.idp.tokenUrl,
        IDP_ISSUERS: world.idp.issuers.join(','),
        RETURN_ORIGINS: product,
        APPROVED_DOMAINS: '*',
        ...(scheme === 'https' && { COOKIE_DOMAIN: 'company.example' }),
      });
      service = { baseUrl: listening };
    });
    test.afterAll(async () => {
      await served.stop();
      await world.close();
    });

    const openBrowser = () => openCookieBrowser(service);

    /** Expects that an answer sets and clears these cookies, and no others. */
    function expectCookies(answer: Answer, { set = [], cleared = [] }: { set?: string[]; cleared?: string[] }): void {
      const wanted = (kinds: string[], seconds: number | null) =>
        kinds
          .filter((kind) => kind !== 'shared' || scheme === 'https')
          .map((kind) => ({ ...cookies[kind], ...(seconds !== null && { seconds }) }));
      const got = setBy(answer).map(({ value, ...rest }) => {
        expect(value === '', rest.name).toBe(rest.seconds === gone);
        return { name: rest.name, attributes: rest.attributes, seconds: rest.seconds };
      });
      const byName = (one: { name?: string }, other: { name?: string }) =>
        (one.name ?? '').localeCompare(other.name ?? '');
      expect.soft(got.sort(byName)).toEqual([...wanted(set, null), ...wanted(cleared, gone)].sort(byName));
    }

    const json = (fields: object) => ({ method: 'POST', headers: { ...asJson }, body: JSON.stringify(fields) });
    const form = (fields: Record<string, string>) => ({
      method: 'POST',
      headers: { ...asForm, origin: publicUrl },
      body: new URLSearchParams(fields).toString(),
    });

    async function statusOf(sessionId: string | undefined): Promise<number> {
      const cookie = `${cookies.session?.name}=${sessionId}`;
      return (await send(service, '/api/session', { headers: { cookie } })).status;
    }

    /** Creates an approved user: APPROVED_DOMAINS applies when the link is opened in the browser that signed up. */
    async function signUp(browser: ReturnType<typeof openBrowser>): Promise<string> {
      const email = newEmail();
      await browser.ask('/api/signup', json({ email, password: passPhrase }));
      const [link] = (await world.mailbox.waitFor(email)).links;
      const { pathname, search } = new URL(link ?? '');
      expect((await browser.ask(pathname + search)).text).toContain('data-awaiting-approval="false"');
      return email;
    }

    async function returnFromProvider(browser: ReturnType<typeof openBrowser>, email: string): Promise<string> {
      const start = await browser.ask('/auth/idp/start');
      const callback = await chooseAtProvider(start.headers.location ?? '', publicUrl, email);
      return callback.pathname + callback.search;
    }

    test('each cookie has its name, attributes and lifetime where it is set, and is cleared with the same attributes', async () => {
      const browser = openBrowser();
      const email = newEmail();
      expectCookies(await browser.ask(`/login?return_to=${encodeURIComponent(product)}`), { set: ['return'] });
      expectCookies(await browser.ask('/api/signup', json({ email: newEmail(), password: passPhrase })), {
        set: ['signup'],
      });
      const typed = form({ email, password: passPhrase, org_name: '' });
      expectCookies(await browser.ask('/signup?/create', typed), { set: ['signup', 'sent'] });
      expectCookies(await browser.ask('/language', form({ language: 'de', from: '/' })), { set: ['language'] });
      expectCookies(await browser.ask('/language', form({ language: '', from: '/' })), { cleared: ['language'] });
      expectCookies(await browser.ask('/theme', form({ theme: 'dark', from: '/' })), { set: ['theme'] });
      expectCookies(await browser.ask('/theme', form({ theme: '', from: '/' })), { cleared: ['theme'] });
      const [link] = (await world.mailbox.waitFor(email)).links;
      const { pathname, search } = new URL(link ?? '');
      expectCookies(await browser.ask(pathname + search), {});

      expectCookies(await browser.ask('/api/login', json({ email, password: 'not the pass phrase' })), {});
      expectCookies(await browser.ask('/api/login', json({ email, password: passPhrase })), {
        set: ['session', 'shared', 'known'],
      });
      expectCookies(await browser.ask('/onboarding', form({})), {});
      const home = await browser.ask('/');
      expect(home.headers.location).toBe(`${product}/`);
      expectCookies(home, { cleared: ['return'] });
      expectCookies(await browser.ask('/?/hideSteps', form({})), { set: ['steps', 'notice'] });
      expectCookies(await browser.ask('/?/showSteps', form({})), { cleared: ['steps'] });
      expectCookies(await browser.ask('/api/logout', json({})), { cleared: ['session', 'shared'] });

      expectCookies(await browser.ask('/auth/idp/start'), { set: ['attempt'] });
      expectCookies(await browser.ask('/auth/idp/callback?error=access_denied'), {});
      expectCookies(await browser.ask('/auth/idp/callback?state=x&code=y'), { cleared: ['attempt'] });
      expectCookies(await browser.ask(await returnFromProvider(browser, email)), {
        set: ['session', 'shared', 'known'],
        cleared: ['attempt'],
      });
      expectCookies(await browser.ask('/logout', form({})), { cleared: ['session', 'shared'] });
      expectCookies(await browser.ask('/login', form({ email, password: passPhrase })), {
        set: ['session', 'shared', 'known'],
      });
      expectCookies(await browser.ask('/api/trpc/leaving.deleteAccount', json({ password: passPhrase })), {
        cleared: ['session', 'shared'],
      });
    });

    test('a sign-in makes a new session id, and ends the session that the browser had before', async () => {
      const browser = openBrowser();
      const email = await signUp(browser);
      const held = () => browser.jar.get(cookies.session?.name ?? '');
      const ids: (string | undefined)[] = [];
      for (const signIn of [
        () => browser.ask('/api/login', json({ email, password: passPhrase })),
        () => browser.ask('/login', form({ email, password: passPhrase })),
        () => browser.ask('/api/trpc/signIn.withPassword', json({ email, password: passPhrase })),
        async () => browser.ask(await returnFromProvider(browser, email)),
      ]) {
        await signIn();
        ids.push(held());
        const statuses = await Promise.all(ids.map(statusOf));
        expect(statuses).toEqual(ids.map((_, at) => (at === ids.length - 1 ? 200 : 401)));
      }
      expect(new Set(ids).size).toBe(ids.length);
    });

    test('a browser keeps one `known` cookie after sign-out, for all users who sign in from it', async () => {
      const browser = openBrowser();
      const [one, other] = [await signUp(browser), await signUp(browser)];
      const known = () => browser.jar.get(cookies.known?.name ?? '');
      expect(known()).toBeUndefined();
      await browser.ask('/api/login', json({ email: one, password: passPhrase }));
      const first = known();
      expect(first).toMatch(/^[\w-]{43}$/);
      await browser.ask('/api/logout', json({}));
      await browser.ask('/api/login', json({ email: other, password: passPhrase }));
      expect(known()).toBe(first);

      // A value that this service did not issue is replaced.
      browser.jar.set(cookies.known?.name ?? '', 'x'.repeat(43));
      await browser.ask('/login', form({ email: one, password: passPhrase }));
      expect(known()).not.toBe('x'.repeat(43));
      expect((await browser.ask('/api/session')).status).toBe(200);
      browser.jar.delete(cookies.session?.name ?? '');
      browser.jar.delete(cookies.shared?.name ?? '');
      expect((await browser.ask('/api/session')).status, 'the known cookie is not a session').toBe(401);
    });

    test('a password change makes a new session id, and ends the session that the browser had before', async () => {
      const browser = openBrowser();
      const email = await signUp(browser);
      await browser.ask('/api/login', json({ email, password: passPhrase }));
      const held = () => browser.jar.get(cookies.session?.name ?? '');
      const before = held();
      const typed = { current_password: passPhrase, password: 'another pass phrase' };
      const answer = await browser.ask('/account?/changePassword', form(typed));
      expectCookies(answer, { set: ['session', 'shared', 'notice'] });
      expect([await statusOf(before), await statusOf(held())]).toEqual([401, 200]);

      const again = json({ current_password: typed.password, password: passPhrase });
      expectCookies(await browser.ask('/api/trpc/accounts.changePassword', again), { set: ['session', 'shared'] });
      expect(await statusOf(held())).toBe(200);
      if (scheme === 'https') {
        const cookie = `${cookies.shared?.name}=${browser.jar.get(cookies.shared?.name ?? '')}`;
        expect((await send(service, '/api/session', { headers: { cookie } })).status).toBe(200);
      }
    });

    for (const [what, path, sent] of [
      ['the endpoint', '/api/logout', json({})],
      ['the form', '/logout', null],
      ['the router', '/api/trpc/signIn.out', json({})],
    ] as const) {
      test(`sign-out by ${what} ends the session on the server, also for a browser that keeps its cookie`, async () => {
        const browser = openBrowser();
        const email = await signUp(browser);
        await browser.ask('/api/login', json({ email, password: passPhrase }));
        const id = browser.jar.get(cookies.session?.name ?? '');
        expect(await statusOf(id)).toBe(200);
        await browser.ask(path, sent ?? form({}));
        expect(await statusOf(id)).toBe(401);
        expect(browser.jar.has(cookies.session?.name ?? '')).toBe(false);
      });
    }

    test('/verify sends no referrer and is not stored, for valid and used links', async () => {
      const browser = openBrowser();
      const email = newEmail();
      await browser.ask('/api/signup', json({ email, password: passPhrase }));
      const [link] = (await world.mailbox.waitFor(email)).links;
      const { pathname, search } = new URL(link ?? '');
      for (const [status, method] of [
        [200, 'HEAD'],
        [200, 'GET'],
        [400, 'GET'],
      ] as const) {
        const answer = await browser.ask(pathname + search, { method });
        expect(answer.status).toBe(status);
        expect(answer.headers['referrer-policy']).toBe('no-referrer');
        expect(answer.headers['cache-control']).toContain('no-store');
      }
    });
  });
}
