import os from 'node:os';
import path from 'node:path';
import { toolEnvironment } from './bootstrap.mjs';
import { dataDirectory } from './places.mjs';
import { Sentence } from './say.mjs';

/** The person's environment without empty variables, which count as unset. */
export function personsEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([, value]) => value.trim() !== ''));
}

/** What every program of ours gets besides its own: production, and a thread for each core to hash passwords on. */
export function programEnvironment(environment) {
  const threads = String(Math.max(1, os.availableParallelism?.() ?? os.cpus().length));
  return toolEnvironment({ NODE_ENV: 'production', UV_THREADPOOL_SIZE: threads, ...environment });
}

/**
 * The environment that joins the service and its sandbox, which share nothing
 * else. What the person has set wins.
 */
export function startEnvironment(port, environment) {
  const sandbox = `http://localhost:${port + 1}`;
  return programEnvironment({
    PORT: String(port),
    PUBLIC_BASE_URL: `http://localhost:${port}`,
    IDP_CLIENT_ID: 'sandbox-client',
    IDP_CLIENT_SECRET: 'sandbox-client-secret',
    IDP_AUTH_URL: `${sandbox}/idp/auth`,
    IDP_TOKEN_URL: `${sandbox}/idp/token`,
    IDP_ISSUERS: `${sandbox}/idp,localhost:${port + 1}/idp`,
    IDP_NAME: 'Sandbox ID',
    PAYMENT_SECRET_KEY: 'sandbox_secret_key',
    PAYMENT_WEBHOOK_SECRET: 'sandbox_webhook_secret',
    PAYMENT_API_URL: sandbox,
    SMTP_URL: `smtp://localhost:${port + 2}`,
    MAIL_FROM: 'Gatehouse <no-reply@gatehouse.example>',
    SANDBOX_PORT: String(port + 1),
    SANDBOX_SMTP_PORT: String(port + 2),
    SANDBOX_DATA_DIR: path.join(dataDirectory(environment), 'sandbox'),
    ...(process.stdout.isTTY ? { LOG_FORMAT: 'pretty' } : {}),
    ...environment,
  });
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The sandbox lets anybody sign in as anybody, so it never stands beside a public service. */
export function refuseBeyondLoopback(environment) {
  const base = environment.PUBLIC_BASE_URL;
  if (!base) return;
  if (URL.canParse(base) && loopback.test(new URL(base).hostname)) return;

  throw new Sentence(
    `PUBLIC_BASE_URL is ${base}: the sandbox of npm start runs on this machine alone. For a real address use npm run build and npm run serve.`,
  );
}
