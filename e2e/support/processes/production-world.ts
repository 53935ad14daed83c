import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';
import { type Sandbox, startSandbox } from '@gatehouse/sandbox/sandbox';
import { expect } from '@playwright/test';
import type { Service } from '../service.ts';
import { makeDataDirectory } from './data-directory.ts';
import type { ServiceProcess } from './served.ts';

/** The systems around a production service: PostgreSQL, and stand-ins for the providers and the mail server. */
export type World = {
  databaseUrl: string;
  sandbox: Sandbox;
  /** The environment variables with the addresses of these systems. */
  environment: Record<string, string>;
  /** Returns a service process in the form that the stories use. */
  asService: (served: ServiceProcess) => Service;
  stop: () => Promise<void>;
};

/** Starts these systems. The database is migrated, unless `empty` is true. */
export async function startWorld(baseUrl: string, { empty = false } = {}): Promise<World> {
  const folder = empty ? fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-production-')) : makeDataDirectory();
  const database = await openEmbedded(folder);
  const idp = { clientId: 'a-client', clientSecret: 'sandbox-client-secret' };
  const payment = { secretKey: 'sk_test_sandbox', webhookSecret: 'sandbox_webhook_secret' };
  const sandbox = await startSandbox({ port: 0, smtpPort: 0, dataDir: null, serviceUrl: baseUrl, idp, payment });

  return {
    databaseUrl: database.url,
    sandbox,
    environment: {
      DATABASE_URL: database.url,
      PUBLIC_BASE_URL: baseUrl,
      SMTP_URL: sandbox.smtpUrl,
      MAIL_FROM: 'post@company.example',
      IDP_CLIENT_ID: idp.clientId,
      IDP_CLIENT_SECRET: idp.clientSecret,
      IDP_AUTH_URL: sandbox.idp.authUrl,
      IDP_TOKEN_URL: sandbox.idp.tokenUrl,
      IDP_ISSUERS: sandbox.idp.issuers.join(','),
      PAYMENT_SECRET_KEY: payment.secretKey,
      PAYMENT_WEBHOOK_SECRET: payment.webhookSecret,
      PAYMENT_API_URL: sandbox.payment.apiUrl,
    },
    asService: (served) => ({
      baseUrl,
      sandboxUrl: sandbox.url,
      operator: async (...args) => ({ code: await served.operator(...args), stdout: '', stderr: '' }),
      approve: async (email) => expect(await served.operator('approve', email)).toBe(0),
      printed: served.printed,
      crash: served.crash,
      stop: served.stop,
    }),
    async stop() {
      await sandbox.close();
      await database.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
