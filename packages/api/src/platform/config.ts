import { type Language, languages } from '@gatehouse/languages/generated/languages';
import { z } from 'zod';
import { boolean, domains, integer, line, nonEmptyList, parseUrl, serverUrl, string, webUrl } from './config-fields.ts';
import { logo } from './config-logo.ts';
import { timeouts } from './config-timeouts.ts';
import { version } from './config-version.ts';
import { configWarnings, isPriceVariable, secretWarnings } from './config-warnings.ts';
import type { LogLevel } from './log.ts';

/** An invalid configuration. The message has a line for each invalid variable, with the reason. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export type Config = ReturnType<typeof toConfig>;
export type IdentityConfig = NonNullable<Config['idp']>;
export type PaymentConfig = NonNullable<Config['payment']>;

/**
 * Parses the whole configuration, once, from the environment. An empty variable counts as
 * unset. A feature that is off is null, so that no code can use an incomplete one.
 *
 * @throws ConfigError with a line for each invalid variable.
 */
export function parseConfig(environment: Record<string, string | undefined>): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()));
  if (set.TOKEN_KEY_SECRET) throw new ConfigError(tokenKeySecret);
  const parsed = variables.safeParse(set);
  const prices = priceVariables.safeParse(
    Object.fromEntries(Object.entries(set).filter(([name]) => isPriceVariable(name))),
  );
  if (!parsed.success || !prices.success) throw new ConfigError(describeIssues(parsed.error, prices.error).join('\n'));

  return toConfig(parsed.data, prices.data, configWarnings(environment, Object.keys(variables.shape)));
}

const tokenKeySecret =
  'TOKEN_KEY_SECRET: Set SECRET_KEY in its place, to the same value. It encrypts the keys that sign tokens, and more.';

/** Returns one sentence for each invalid variable, about its first issue. A message that is a sentence follows a colon. */
function describeIssues(...errors: (z.ZodError | undefined)[]): string[] {
  const issues = errors.flatMap((error) => error?.issues ?? []);
  const first = new Map(issues.toReversed().map(({ path, message }) => [path.join('.'), message]));
  return [...first].toReversed().map(([name, message]) => `${name}${/^[A-Z]/.test(message) ? ':' : ''} ${message}`);
}

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

/** Whether a host name, from a URL or a listen address, is reachable from this machine only (RFC 6761 §6.3 for names). */
export function isLoopback(host: string): boolean {
  return loopbackHosts.has(host) || host.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whether a value is an https URL, or an http URL of this machine. */
function isSafe(value: string): boolean {
  const url = parseUrl(value);
  return url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)));
}

function isOrigin(value: string): boolean {
  const url = parseUrl(value);
  if (url === null || !isSafe(value) || url.href !== `${url.origin}/`) return false;
  // URL accepts characters in a host that have a meaning in a content security policy: * and ;
  return /^(\[[\da-f:.]+\]|[a-z\d._-]+)$/.test(url.hostname);
}

/** The driver treats any other mode as one that verifies nothing, or everything. */
function hasKnownTlsMode(value: string): boolean {
  const mode = /[?&]sslmode=([^&]*)/.exec(value)?.[1];
  return mode === undefined || ['disable', 'prefer', 'require', 'verify-full'].includes(mode);
}

const safeUrl = string.refine(isSafe, 'must be an https address, or http on this machine.');
const origins = nonEmptyList
  .refine((items) => items.every(isOrigin), 'must be origins, separated by commas.')
  .transform((items) => items.map((origin) => new URL(origin).origin))
  .default([]);

const known = Object.keys(languages);
const locales = nonEmptyList
  .refine(
    (items) => items.every((item) => known.includes(item)) && new Set(items).size === items.length,
    `must be languages of this release (${known.join(', ')}), each once, separated by commas.`,
  )
  .transform((items) => items as Language[])
  .default(['en', 'de']);

/** Every variable that Gatehouse reads. A test ensures that .env.example and docs/configuration.md list the same names. */
export const variables = z
  .object({
    HOST: string.regex(/^[\p{L}\p{N}.:%_-]+$/u, 'must be a name or address of this machine.').default('127.0.0.1'),
    PORT: integer(0, 65_535).default(3000),
    PUBLIC_BASE_URL: string
      .refine(isOrigin, 'must be an origin without a path: https, or http on this machine.')
      .transform((value) => new URL(value).origin)
      .optional(),
    DATABASE_URL: serverUrl(['postgres:', 'postgresql:'], 'postgres://user:password@host:5432/name')
      .refine(hasKnownTlsMode, 'must have no sslmode, or disable, prefer, require or verify-full.')
      .optional(),
    DATA_DIR: line.optional(),
    DATABASE_POOL: integer(2, 1000).default(10),
    DATABASE_PREPARE: boolean.default(true),
    IDP_CLIENT_ID: line.optional(),
    IDP_CLIENT_SECRET: line.optional(),
    IDP_AUTH_URL: safeUrl.default('https://accounts.google.com/o/oauth2/v2/auth'),
    IDP_TOKEN_URL: safeUrl.default('https://oauth2.googleapis.com/token'),
    IDP_ISSUERS: nonEmptyList.default(['accounts.google.com', 'https://accounts.google.com']),
    IDP_NAME: line.default('Google'),
    IDP_PKCE: boolean.default(false),
    IDP_TRUSTED_FOR_SECOND_FACTOR: boolean.default(true),
    SECOND_FACTOR: z.enum(['none', 'operators', 'everybody'], 'must be none, operators or everybody.').optional(),
    PAYMENT_SECRET_KEY: line.regex(/^(sk|rk)_(test|live)_/, 'Use a key of the account.').optional(),
    PAYMENT_WEBHOOK_SECRET: nonEmptyList.default([]),
    PAYMENT_API_URL: safeUrl.optional(),
    PAYMENT_PAGE_ORIGINS: origins,
    PAYMENT_METHODS: nonEmptyList
      .refine(
        (items) => items.every((item) => /^[a-z0-9_]+$/.test(item)),
        'must be methods such as card, separated by commas.',
      )
      .default(['card', 'link']),
    PAYMENT_DISPUTES: z.enum(['keep', 'end'], 'must be keep or end.').default('keep'),
    PAYMENT_TAX: z.enum(['off', 'automatic'], 'must be off or automatic.').default('off'),
    PAYMENT_CODES: boolean.default(false),
    SMTP_URL: serverUrl(['smtp:', 'smtps:'], 'smtp://user:password@host:587').optional(),
    MAIL_FROM: line
      .regex(/^([^<>]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/, 'must hold an e-mail address.')
      .optional(),
    LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error'], 'must be debug, info, warn or error.').default('info'),
    LOG_FORMAT: z.enum(['pretty', 'json'], 'must be pretty or json.').optional(),
    VERIFICATION_TTL_SECONDS: integer(60, 604_800).default(3600),
    SESSION_TTL_DAYS: integer(1, 90).default(30),
    TOKEN_TTL_SECONDS: integer(10, 3600).optional(),
    SECRET_KEY: line
      .pipe(nonEmptyList)
      .refine(
        (keys) => keys.every(({ length }) => length >= 32),
        'must have at least 32 characters, each of several too.',
      )
      .default([]),
    PAST_DUE_GRACE_DAYS: integer(0, 90).default(7),
    SERVICE_NAME: line.max(60, 'must be at most 60 characters.').default('Gatehouse'),
    SERVICE_URL: webUrl.optional(),
    SERVICE_LOGO: logo.optional(),
    SERVICE_LOGO_DARK: logo.optional(),
    BRAND_COLOR: string.regex(/^#([0-9a-f]{3}|[0-9a-f]{6})$/i, 'must be a colour such as #0a6c6c.').optional(),
    SUPPORT_EMAIL: string.regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address.').optional(),
    LOCALES: locales,
    TERMS_URL: webUrl.optional(),
    PRIVACY_URL: webUrl.optional(),
    COOKIE_DOMAIN: string.regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'must be a domain such as example.com.').optional(),
    RETURN_ORIGINS: origins,
    TRUSTED_PROXIES: integer(0, 20).default(0),
    RATE_LIMITS: z
      .enum(['on', 'off'], 'must be on or off.')
      .default('on')
      .transform((value) => value === 'on'),
    BREACHED_PASSWORDS_URL: safeUrl.optional(),
    PLANS_FILE: line.optional(),
    APPROVED_DOMAINS: domains.default([]),
    METRICS_TOKEN: line
      .pipe(nonEmptyList)
      .refine((tokens) => tokens.every(({ length }) => length >= 24), 'must have at least 24 characters.')
      .default([]),
    OTEL_EXPORTER_OTLP_ENDPOINT: webUrl.optional(),
    RETENTION_DAYS: integer(1, 36_500).default(400),
  })
  .refine((set) => !set.COOKIE_DOMAIN || isParentDomain(set.COOKIE_DOMAIN, set.PUBLIC_BASE_URL), {
    path: ['COOKIE_DOMAIN'],
    error: 'must be the host of an https PUBLIC_BASE_URL, or a parent of it.',
  })
  // A misspelled name of one of the two must not start the service on an empty embedded database.
  .refine((set) => set.DATABASE_URL || set.DATA_DIR || !isPublic(set.PUBLIC_BASE_URL), {
    path: ['DATABASE_URL'],
    error: 'or DATA_DIR must be set where PUBLIC_BASE_URL is not on this machine.',
  });

/** PAYMENT_PRICE_<TIER>, by the variable's name: which tiers there are is known once PLANS_FILE is read. */
const priceVariables = z.record(z.string(), line);

/** An invalid origin is not public, so that it is reported once. */
function isPublic(base: string | undefined): boolean {
  return base !== undefined && isOrigin(base) && !isLoopback(new URL(base).hostname);
}

function isParentDomain(domain: string, base: string | undefined): boolean {
  const url = base === undefined ? null : parseUrl(base);
  return url?.protocol === 'https:' && (url.hostname === domain || url.hostname.endsWith(`.${domain}`));
}

function logoUrl(scheme: 'light' | 'dark', set: z.output<typeof logo> | undefined): string | null {
  if (set === undefined) return null;
  return set.file === null ? set.url : `/logo/${scheme}?${set.file.version}`;
}

function toConfig(set: z.output<typeof variables>, prices: Record<string, string>, warnings: string[]) {
  const publicBaseUrl = set.PUBLIC_BASE_URL ?? (isLoopback(set.HOST) ? `http://localhost:${set.PORT}` : null);
  const { IDP_CLIENT_ID: clientId, IDP_CLIENT_SECRET: clientSecret, PAYMENT_SECRET_KEY: secretKey } = set;

  return {
    version,
    host: set.HOST,
    port: set.PORT,
    publicBaseUrl,
    strictTransportSecurity: strictTransportSecurity(publicBaseUrl, set.COOKIE_DOMAIN),
    trustedProxies: set.TRUSTED_PROXIES,
    rateLimits: set.RATE_LIMITS,
    dataDir: set.DATA_DIR ?? '.data',
    databaseUrl: set.DATABASE_URL ?? null,
    databasePool: set.DATABASE_POOL,
    databasePrepare: set.DATABASE_PREPARE,
    log: { level: set.LOG_LEVEL as LogLevel, format: set.LOG_FORMAT ?? defaultFormat() },
    idp:
      clientId && clientSecret
        ? {
            clientId,
            clientSecret,
            authUrl: set.IDP_AUTH_URL,
            tokenUrl: set.IDP_TOKEN_URL,
            issuers: set.IDP_ISSUERS,
            name: set.IDP_NAME,
            pkce: set.IDP_PKCE,
            timeoutSeconds: timeouts.identityProviderSeconds,
          }
        : null,
    /** Whether an identity of the provider may be a second factor of its own. */
    idpTrustedForSecondFactor: set.IDP_TRUSTED_FOR_SECOND_FACTOR,
    /** Who must have a second factor. */
    secondFactor: set.SECOND_FACTOR ?? (isPublic(set.PUBLIC_BASE_URL) ? 'operators' : 'none'),
    payment: secretKey
      ? {
          secretKey,
          apiUrl: set.PAYMENT_API_URL ?? null,
          pageOrigins: set.PAYMENT_PAGE_ORIGINS,
          /** The methods that a checkout offers. */
          methods: set.PAYMENT_METHODS,
          /** Whether the provider computes the tax. */
          tax: set.PAYMENT_TAX === 'automatic',
          /** Whether a checkout takes promotion codes. */
          codes: set.PAYMENT_CODES,
        }
      : null,
    prices,
    breachedPasswords: set.BREACHED_PASSWORDS_URL
      ? { url: set.BREACHED_PASSWORDS_URL, timeoutSeconds: timeouts.breachedPasswordsSeconds }
      : null,
    webhookSecrets: set.PAYMENT_WEBHOOK_SECRET,
    plansFile: set.PLANS_FILE ?? null,
    pastDueGraceDays: set.PAST_DUE_GRACE_DAYS,
    /** Whether an open or a lost dispute of a payment takes the plan. */
    disputes: set.PAYMENT_DISPUTES,
    smtpUrl: set.SMTP_URL ?? null,
    mailFrom: set.MAIL_FROM ?? `no-reply@${publicBaseUrl ? new URL(publicBaseUrl).hostname : 'localhost'}`,
    verificationTtlSeconds: set.VERIFICATION_TTL_SECONDS,
    sessionTtlDays: set.SESSION_TTL_DAYS,
    /** The issuer is part of every token, so without a canonical base URL there are none. */
    tokens:
      set.TOKEN_TTL_SECONDS !== undefined && publicBaseUrl !== null
        ? { ttlSeconds: set.TOKEN_TTL_SECONDS, issuer: publicBaseUrl }
        : null,
    /** Encrypt what the database keeps secret: the first encrypts, all decrypt. */
    secretKeys: set.SECRET_KEY,
    cookieDomain: set.COOKIE_DOMAIN ?? null,
    returnOrigins: set.RETURN_ORIGINS,
    approvedDomains: set.APPROVED_DOMAINS,
    service: {
      name: set.SERVICE_NAME,
      url: set.SERVICE_URL ?? null,
      /** The address of the picture: of a file on this machine, a path of the service. */
      logo: logoUrl('light', set.SERVICE_LOGO),
      /** The one for the dark scheme. Without it the other one stands on a light plate there. */
      logoDark: logoUrl('dark', set.SERVICE_LOGO_DARK),
      isWordmark: set.SERVICE_LOGO?.file?.isWordmark ?? false,
      brandColor: set.BRAND_COLOR ?? null,
      supportEmail: set.SUPPORT_EMAIL ?? null,
      termsUrl: set.TERMS_URL ?? null,
      privacyUrl: set.PRIVACY_URL ?? null,
    },
    /** The pictures that the service serves, at /logo/light and /logo/dark. */
    logoFiles: { light: set.SERVICE_LOGO?.file ?? null, dark: set.SERVICE_LOGO_DARK?.file ?? null },
    /** The languages of pages and mails. The first one is for users of any other. */
    languages: set.LOCALES,
    /** Without one there are no metrics. Several are valid while the token is changed. */
    metricsTokens: set.METRICS_TOKEN,
    otelEndpoint: set.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    retentionDays: set.RETENTION_DAYS,
    timeouts,
    /** Sentences about probable mistakes, logged at start. */
    warnings: [
      ...warnings,
      ...secretWarnings({
        publicBaseUrl,
        secretKeys: set.SECRET_KEY,
        issuesTokens: set.TOKEN_TTL_SECONDS !== undefined,
      }),
    ],
  };
}

/**
 * Returns the value of the header Strict-Transport-Security, for https only (RFC 6797 §7.2).
 * Subdomains are included, because one of them over plain http could set cookies for the
 * service. With COOKIE_DOMAIN the company's other hosts may be subdomains of the service's
 * host, and some of them may not support https.
 */
function strictTransportSecurity(base: string | null, cookieDomain: string | undefined): string | null {
  if (!base?.startsWith('https:')) return null;
  return cookieDomain === undefined ? 'max-age=31536000; includeSubDomains' : 'max-age=31536000';
}

function defaultFormat(): 'pretty' | 'json' {
  return process.stdout.isTTY ? 'pretty' : 'json';
}
