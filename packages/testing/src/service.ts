import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import type { App } from '@gatehouse/api/app';
import { setUpBilling } from '@gatehouse/api/billing/actions/set-up-billing';
import { openApp } from '@gatehouse/api/create-app';
import { type Config, parseConfig } from '@gatehouse/api/platform/config';
import { type Sandbox, startSandbox } from '@gatehouse/sandbox/sandbox';
import { webhookEvents } from '@gatehouse/sandbox/webhook-events';
import { openApi } from '@gatehouse/server/application';
import { nameHeaders } from '@gatehouse/server/canonical-request';
import { openHttpServer } from '@gatehouse/server/http-server';
import type { EmptyDatabase } from './empty-database.ts';

export type Service = {
  app: App;
  sandbox: Sandbox;
  /** Moves the service's clock. */
  moveClock: (milliseconds: number) => void;
  close: () => Promise<void>;
};

const pagesHandler = new URL('../../../apps/web/build/handler.js', import.meta.url);
const idp = { clientId: 'sandbox-client', clientSecret: 'sandbox-client-secret' };
const payment = { secretKey: 'sk_test_sandbox', webhookSecret: 'sandbox_webhook_secret' };

/**
 * Opens the service as apps/server does (main.ts), with an empty database, the sandbox in this process, and a clock of its
 * own. Closes the database if it cannot.
 *
 * @throws Error whose message is a sentence that says why it cannot start.
 */
export async function startService(
  environment: Record<string, string>,
  opening: Promise<EmptyDatabase>,
): Promise<Service> {
  let aheadMilliseconds = 0;
  const now = () => new Date(Date.now() + aheadMilliseconds);
  const ends: (() => Promise<unknown>)[] = [async () => (await opening.catch(() => null))?.close()];
  async function close() {
    for (const end of ends.splice(0).reverse()) await end();
  }
  try {
    const sandbox = await startSandbox({
      port: 0,
      smtpPort: 0,
      dataDir: null,
      idp,
      payment: { ...payment, webhookEvents, serviceTime: () => now().getTime() },
    });
    ends.push(sandbox.close);

    const { server, ...listening } = await listenSomewhere(environment, sandbox);
    const config = { ...listening.config, databaseUrl: (await opening).url };
    sandbox.setServiceUrl(config.publicBaseUrl ?? '');
    // Past a proxy that the test may have at the public address.
    sandbox.payment.setWebhookUrl(`http://127.0.0.1:${config.port}/webhooks/payment`);

    nameHeaders();
    const [app, { handler }] = await Promise.all([openApp(config, now), import(pagesHandler.href)]);
    const api = await openApi();
    // Ended in the opposite order: no more jobs, then the open requests.
    ends.push(app.close, server.drain, async () => api.beginShutdown());
    server.serve({ ...api, pages: handler });
    await setUpBilling(app);
    function moveClock(milliseconds: number) {
      aheadMilliseconds += milliseconds;
    }
    return { app, sandbox, moveClock, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Listens on PORT, else on a free port: another process may take one before the service listens on it. */
async function listenSomewhere(environment: Record<string, string>, sandbox: Sandbox) {
  for (let attempt = 1; ; attempt++) {
    const config = configOf(environment, sandbox, await freePort());
    try {
      return { config, server: await openHttpServer(config) };
    } catch (error) {
      if (environment.PORT || attempt === 5) throw error;
    }
  }
}

function configOf(environment: Record<string, string>, sandbox: Sandbox, port: number): Config {
  return parseConfig({
    PORT: String(port),
    IDP_CLIENT_ID: idp.clientId,
    IDP_CLIENT_SECRET: idp.clientSecret,
    IDP_AUTH_URL: sandbox.idp.authUrl,
    IDP_TOKEN_URL: sandbox.idp.tokenUrl,
    IDP_ISSUERS: sandbox.idp.issuers.join(','),
    IDP_NAME: 'Sandbox ID',
    PAYMENT_SECRET_KEY: payment.secretKey,
    PAYMENT_WEBHOOK_SECRET: payment.webhookSecret,
    PAYMENT_API_URL: sandbox.payment.apiUrl,
    SMTP_URL: sandbox.smtpUrl,
    MAIL_FROM: 'Gatehouse <no-reply@gatehouse.example>',
    LOG_LEVEL: 'error',
    // All requests of a test come from one address.
    RATE_LIMITS: 'off',
    SECRET_KEY: 'the secret key of every test protects nothing',
    ...environment,
  });
}

async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
