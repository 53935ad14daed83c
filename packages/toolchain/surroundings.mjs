import os from 'node:os';
import path from 'node:path';
import { toolEnvironment } from './bootstrap.mjs';
import { sandboxSecrets } from './sandbox-secrets.mjs';
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
    SMTP_URL: `smtp://localhost:${port + 2}`,
    MAIL_FROM: 'Gatehouse <no-reply@gatehouse.example>',
    SANDBOX_PORT: String(port + 1),
    SANDBOX_SMTP_PORT: String(port + 2),
    SANDBOX_DATA_DIR: path.join(dataDir, 'sandbox'),
    ...(process.stdout.isTTY ? { LOG_FORMAT: 'pretty' } : {}),
    ...environment,
    // It holds production's settings.
    GATEHOUSE_ENV_FILE: 'off',
  });
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

/** Whether the environment has a canonical base URL that other machines reach. */
export function isPublic({ PUBLIC_BASE_URL: base }) {
  return Boolean(base) && !(URL.canParse(base) && loopback.test(new URL(base).hostname));
}

/** Anyone can sign in as anyone in the sandbox, so it never stands beside a service that other machines reach, nor on its data. */
export function refuseBeyondLoopback(environment) {
  const { PUBLIC_BASE_URL: base, HOST: host, DATABASE_URL: database } = environment;
  const production = 'For a real service use npm run build and npm run serve.';
  if (isPublic(environment)) {
    throw new Sentence(`PUBLIC_BASE_URL is ${base}: the sandbox of npm start is for this machine alone. ${production}`);
  }
  if (host && !loopback.test(host)) {
    throw new Sentence(`HOST is ${host}: the sandbox of npm start is for this machine alone. ${production}`);
  }
  if (database) {
    throw new Sentence(
      `DATABASE_URL is set: npm start makes demo accounts, and has a database of its own for them. Unset it. ${production}`,
    );
  }
}
