import { fileURLToPath } from 'node:url';
import { type Sandbox, startSandbox } from '@gatehouse/sandbox/sandbox';
import type { App } from '../app.ts';
import { createApp } from '../create-app.ts';
import { type Config, parseConfig } from '../platform/config.ts';
import type { Timeouts } from '../platform/config-timeouts.ts';
import type { Log, LogFields, LogLevel } from '../platform/log.ts';
import { createTestDatabase, migrationsFolder } from './database/database.ts';

/** A running App for a test, with its sandbox. */
export type TestApp = {
  app: App;
  sandbox: Sandbox;
  /** Moves the service's clock forward. */
  advance: (milliseconds: number) => void;
  /** Stops the service's clock, for times that must be exact: from now on only `advance` moves it. */
  stopClock: () => void;
  /** The entries of the log so far. */
  logged: { level: LogLevel; message: string; fields: LogFields }[];
  /** Stops everything. @throws Error if the log contains an error entry, which fails the test. */
  close: () => Promise<void>;
};

export const sandboxIdentity = { clientId: 'sandbox-client', clientSecret: 'sandbox-client-secret' };
export const sandboxPayment = { secretKey: 'sk_test_sandbox', webhookSecret: 'sandbox_webhook_secret' };
export const serviceUrl = 'http://localhost:3999';

/** The plans of tests, so that no test fails when the built-in ones change. */
const testPlansFile = fileURLToPath(new URL('plans.json', import.meta.url));

type Options = {
  /** Environment variables, which override those of the sandbox. */
  environment?: Record<string, string>;
  /** Timeouts that the test is about. */
  timeouts?: Partial<Timeouts>;
  /** Whether the process handles jobs, which send the mails. */
  work?: boolean;
};

/**
 * Starts the App as in production, with a database of its own and the sandbox's providers and mailbox. Scheduled jobs
 * are not begun: a test calls the handler, or enqueues the job.
 */
export async function startTestApp({ environment = {}, timeouts = {}, work = true }: Options = {}): Promise<TestApp> {
  const sandbox = await startSandbox({
    port: 0,
    smtpPort: 0,
    dataDir: null,
    serviceUrl,
    idp: sandboxIdentity,
    payment: sandboxPayment,
  });
  // A test that names a database of its own needs no other.
  const database = environment.DATABASE_URL ? null : await createTestDatabase({ isStarted: work });
  const parsed = parseConfig({
    PUBLIC_BASE_URL: serviceUrl,
    DATABASE_URL: database?.url,
    SMTP_URL: sandbox.smtpUrl,
    MAIL_FROM: 'Gatehouse <no-reply@gatehouse.example>',
    IDP_CLIENT_ID: sandboxIdentity.clientId,
    IDP_CLIENT_SECRET: sandboxIdentity.clientSecret,
    IDP_AUTH_URL: sandbox.idp.authUrl,
    IDP_TOKEN_URL: sandbox.idp.tokenUrl,
    IDP_ISSUERS: sandbox.idp.issuers.join(','),
    PAYMENT_SECRET_KEY: sandboxPayment.secretKey,
    PAYMENT_WEBHOOK_SECRET: sandboxPayment.webhookSecret,
    PAYMENT_API_URL: sandbox.payment.apiUrl,
    RATE_LIMITS: 'off',
    SECRET_KEY: 'the secret key of all tests that is long enough',
    PLANS_FILE: testPlansFile,
    ...environment,
  });
  const config = withTimeouts(parsed, { ...patience, ...timeouts });

  let ahead = 0;
  let stopped: number | null = null;
  const logged: TestApp['logged'] = [];
  const app = await createApp({
    config,
    migrations: migrationsFolder,
    work,
    schedules: false,
    log: collecting(logged),
    now: () => new Date((stopped ?? Date.now()) + ahead),
  });

  return {
    app,
    sandbox,
    advance: (milliseconds) => {
      ahead += milliseconds;
    },
    stopClock() {
      stopped = Date.now();
    },
    logged,
    async close() {
      await app.close();
      await sandbox.close();
      await database?.drop();
      const errors = logged.filter(({ level }) => level === 'error');
      if (errors.length > 0) throw new Error(`The log holds errors: ${JSON.stringify(errors)}`);
    },
  };
}

/** Fifty requests at once wait longer for a connection than in production, where a machine has nothing else to do. */
const patience = { statementSeconds: 60, transactionSeconds: 60, connectionQueueSeconds: 60 };

function withTimeouts(config: Config, changed: Partial<Timeouts>): Config {
  const timeouts = { ...config.timeouts, ...changed };
  const idp = config.idp && { ...config.idp, timeoutSeconds: timeouts.identityProviderSeconds };
  return { ...config, timeouts, idp };
}

function collecting(logged: TestApp['logged']): Log {
  function entry(level: LogLevel) {
    return (message: string, fields: LogFields = {}) => void logged.push({ level, message, fields });
  }
  return { debug: entry('debug'), info: entry('info'), warn: entry('warn'), error: entry('error') };
}
