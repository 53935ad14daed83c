import type { SandboxOptions } from './sandbox.ts';
import { webhookEvents } from './webhook-events.ts';

/**
 * Reads the settings of the process.
 *
 * @throws Error that names the variable if one is missing or wrong.
 */
export function readEnvironment(env: NodeJS.ProcessEnv): SandboxOptions & { serviceUrl: string } {
  return {
    port: readPort(env, 'SANDBOX_PORT'),
    smtpPort: readPort(env, 'SANDBOX_SMTP_PORT'),
    dataDir: needed(env, 'SANDBOX_DATA_DIR'),
    serviceUrl: readServiceUrl(needed(env, 'PUBLIC_BASE_URL')),
    ...(env.SANDBOX_WEBHOOK_ORIGIN && { webhookOrigin: readServiceUrl(env.SANDBOX_WEBHOOK_ORIGIN) }),
    idp: { clientId: needed(env, 'IDP_CLIENT_ID'), clientSecret: needed(env, 'IDP_CLIENT_SECRET') },
    payment: {
      secretKey: needed(env, 'PAYMENT_SECRET_KEY'),
      webhookSecret: needed(env, 'PAYMENT_WEBHOOK_SECRET').split(',')[0] ?? '',
      webhookEvents,
    },
  };
}

function needed(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name]?.trim();
  if (value) return value;
  throw new Error(`${name} is not set. Start the sandbox with "npm start", which sets it.`);
}

function readPort(env: NodeJS.ProcessEnv, name: string): number {
  const text = needed(env, name);
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new Error(`${name} must be a port number from 0 to 65535.`);
}

/**
 * Returns the origin of a service's address. Anyone can sign in as any user here, so only a service on the same machine is
 * accepted.
 *
 * @throws Error that names PUBLIC_BASE_URL.
 */
export function readServiceUrl(text: string): string {
  if (!URL.canParse(text)) throw new Error('PUBLIC_BASE_URL is not a URL.');
  const url = new URL(text);
  const isLoopback =
    /^(.+\.)?localhost$/.test(url.hostname) || url.hostname === '[::1]' || /^127(\.\d+){3}$/.test(url.hostname);
  if (isLoopback && (url.protocol === 'http:' || url.protocol === 'https:')) return url.origin;
  throw new Error(
    `The sandbox runs only beside a service on this machine: PUBLIC_BASE_URL is ${url.origin}, and must be on localhost.`,
  );
}
