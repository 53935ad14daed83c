import os from 'node:os';
import path from 'node:path';
import { fromRoot, toolEnvironment } from './bootstrap.mjs';
import { UserError } from './log.mjs';
import { useMemoryFolder } from './memory-folder.mjs';
import { sandboxSecrets } from './sandbox-secrets.mjs';

/** Returns the environment that the user set, without empty variables, which count as unset. */
export function userEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([, value]) => value.trim() !== ''));
}

/**
 * Returns the environment of every program that is started here: production, with one thread per core
 * to hash passwords, and a folder where Node keeps compiled code for the next start.
 */
export function programEnvironment(environment) {
  const threads = String(Math.max(1, os.availableParallelism?.() ?? os.cpus().length));
  const compiled = fromRoot('node_modules/.cache/compiled');
  const defaults = { NODE_ENV: 'production', UV_THREADPOOL_SIZE: threads, NODE_COMPILE_CACHE: compiled };
  return toolEnvironment({ ...defaults, ...environment });
}

/**
 * Node's options for the service. Without a limit the space for new objects grows to 32 MiB twice, and
 * stays so large (docs/performance.md).
 */
export const serviceOptions = ['--max-semi-space-size=8'];

/** Returns the environment of the tests. It does not read the file `.env`, which holds the settings of production. */
export function testEnvironment() {
  useMemoryFolder();
  return programEnvironment({ ...process.env, NODE_ENV: 'test', GATEHOUSE_ENV_FILE: 'off' });
}

/**
 * Returns the environment of `npm start`. Its variables are the only connection between the service
 * and the sandbox. A variable that the user set takes precedence.
 */
export function startEnvironment(port, environment, dataDir) {
  const secrets = sandboxSecrets(dataDir);
  const sandbox = `http://localhost:${port + 1}`;
  return programEnvironment({
    PORT: String(port),
    DATA_DIR: dataDir,
    PUBLIC_BASE_URL: `http://localhost:${port}`,
    IDP_CLIENT_ID: 'sandbox-client',
    IDP_CLIENT_SECRET: secrets.idpClientSecret,
    IDP_AUTH_URL: `${sandbox}/idp/auth`,
    IDP_TOKEN_URL: `${sandbox}/idp/token`,
    IDP_ISSUERS: `${sandbox}/idp,localhost:${port + 1}/idp`,
    IDP_NAME: 'Sandbox ID',
    PAYMENT_SECRET_KEY: secrets.paymentSecretKey,
    PAYMENT_WEBHOOK_SECRET: secrets.paymentWebhookSecret,
    PAYMENT_API_URL: sandbox,
    BREACHED_PASSWORDS_URL: `${sandbox}/breached-passwords/range`,
    SECRET_KEY: secrets.secretKey,
    SMTP_URL: `smtp://localhost:${port + 2}`,
    MAIL_FROM: 'Gatehouse <no-reply@gatehouse.example>',
    SANDBOX_PORT: String(port + 1),
    SANDBOX_SMTP_PORT: String(port + 2),
    SANDBOX_DATA_DIR: path.join(dataDir, 'sandbox'),
    ...(process.stdout.isTTY ? { LOG_FORMAT: 'pretty' } : {}),
    ...environment,
    // The file .env holds the settings of production.
    GATEHOUSE_ENV_FILE: 'off',
  });
}

const loopback = /^((.+\.)?localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

/** Whether the environment sets a canonical base URL that is not loopback. */
export function isPublic({ PUBLIC_BASE_URL: base }) {
  return Boolean(base) && !(URL.canParse(base) && loopback.test(new URL(base).hostname));
}

/**
 * Refuses to run the sandbox for a service that other machines can reach, or on its database:
 * the sandbox lets anyone sign in as anyone.
 *
 * @throws UserError if PUBLIC_BASE_URL or HOST is not loopback, or DATABASE_URL is set.
 */
export function requireLoopback(environment) {
  const { PUBLIC_BASE_URL: base, HOST: host, DATABASE_URL: database } = environment;
  const production = 'For a real service use npm run build and npm run serve.';
  if (isPublic(environment)) {
    throw new UserError(`PUBLIC_BASE_URL is ${base}: the sandbox of npm start is only for this machine. ${production}`);
  }
  if (host && !loopback.test(host)) {
    throw new UserError(`HOST is ${host}: the sandbox of npm start is only for this machine. ${production}`);
  }
  if (database) {
    throw new UserError(
      `DATABASE_URL is set: npm start creates demo accounts in a separate database. Unset it. ${production}`,
    );
  }
}
