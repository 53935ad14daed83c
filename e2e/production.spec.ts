import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSandbox } from '@gatehouse/sandbox/sandbox';
import { expect, test } from '@playwright/test';
import { openEmbedded } from '../apps/server/src/embedded-postgres.ts';
import { threeFreePorts } from './free-port.ts';
import { startServed } from './served.ts';
import type { Service } from './service.ts';
import { walkStory } from './story.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

test('the production way runs the same story, from the environment alone', async ({ browser }) => {
  test.setTimeout(180_000);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-production-'));
  const database = await openEmbedded(folder);
  const port = await threeFreePorts();
  const baseUrl = `http://localhost:${port}`;
  const idp = { clientId: 'a-client', clientSecret: 'sandbox-client-secret' };
  const payment = { secretKey: 'sandbox_secret_key', webhookSecret: 'sandbox_webhook_secret' };
  const world = await startSandbox({ port: 0, smtpPort: 0, dataDir: null, serviceUrl: baseUrl, idp, payment });
  const served = await startServed(port, {
    DATABASE_URL: database.url,
    PUBLIC_BASE_URL: baseUrl,
    SMTP_URL: world.smtpUrl,
    MAIL_FROM: 'post@company.example',
    IDP_CLIENT_ID: idp.clientId,
    IDP_CLIENT_SECRET: idp.clientSecret,
    IDP_AUTH_URL: world.idp.authUrl,
    IDP_TOKEN_URL: world.idp.tokenUrl,
    IDP_ISSUERS: world.idp.issuers.join(','),
    PAYMENT_SECRET_KEY: payment.secretKey,
    PAYMENT_WEBHOOK_SECRET: payment.webhookSecret,
    PAYMENT_API_URL: world.payment.apiUrl,
  });

  const service: Service = {
    baseUrl,
    sandboxUrl: world.url,
    operator: async (...args) => ({ code: await served.operator(...args), stdout: '', stderr: '' }),
    printed: () => '',
    crash: async () => {},
    stop: served.stop,
  };
  const context = await browser.newContext({ baseURL: baseUrl });
  await walkStory(service, { browser, page: await context.newPage() });

  await context.close();
  await served.stop();
  await world.close();
  await database.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

test('nothing of the sandbox is in what production runs', () => {
  const found = execFileSync('sh', [
    '-c',
    `grep -rlE 'packages/sandbox|Sandbox payments|oidc-provider' '${root}apps/web/build' '${root}apps/server/dist' || true`,
  ]);
  expect(found.toString()).toBe('');
});
