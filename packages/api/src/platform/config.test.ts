import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadPlans, paidTiers, priceVariable } from '../billing/plans/plans.ts';
import { parseConfig, variables } from './config.ts';
import { isPriceVariable } from './config-warnings.ts';
import { paymentPageOrigins } from './links.ts';

const example = readFileSync(new URL('../../../../.env.example', import.meta.url), 'utf8');
const assignments = [...example.matchAll(/^([A-Z_]+)="?(.*?)"?$/gm)].map(([, name = '', value = '']) => [name, value]);

const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
const rows = page.split('\n').filter((line) => /^\| [A-Z]/.test(line) && !line.startsWith('| Variable'));
const documented = rows.flatMap((row) => row.split('|')[1]?.trim().split(', ') ?? []);

describe('what is written of the variables', () => {
  it.each([
    ['.env.example', assignments.map(([name = '']) => name)],
    ['the table of docs/configuration.md', documented],
  ])('%s lists every variable that is read, and no other', async (_, names) => {
    const prices = names.filter((name) => isPriceVariable(name));
    const others = names.filter((name) => !isPriceVariable(name));
    expect(others.toSorted()).toEqual(Object.keys(variables.shape).sort());
    // The plans decide which there are: what is written shows some of the built-in ones.
    const builtIn = paidTiers(await loadPlans({ plansFile: null, prices: {} })).map(priceVariable);
    expect(prices.length).toBeGreaterThan(0);
    expect(builtIn).toEqual(expect.arrayContaining(prices));
  });

  it('.env.example is a valid configuration that equals the defaults', () => {
    expect(parseConfig(Object.fromEntries(assignments))).toEqual(parseConfig({}));
  });
});

const bell = '\u0007';

/** Invalid values of every variable. A new variable without them fails the type check. */
const wrongValues: Record<keyof typeof variables.shape | 'PAYMENT_PRICE_GOLD', string[]> = {
  HOST: ['http://localhost', 'two words', bell],
  PORT: ['eighty', '-1', '65536', '80.5', '0x50g'],
  PUBLIC_BASE_URL: ['http://company.example', 'https://company.example/path', 'company.example', 'javascript:alert(1)'],
  DATABASE_URL: ['postgres://', 'postgres:gatehouse', 'postgres://?host=', 'mysql://host/name', 'nowhere'],
  DATA_DIR: [`data${bell}`],
  DATABASE_POOL: ['1', '1001', 'many'],
  DATABASE_PREPARE: ['yes', '1'],
  IDP_CLIENT_ID: [`client${bell}`],
  IDP_CLIENT_SECRET: [`sandbox${bell}`],
  IDP_AUTH_URL: ['nowhere', 'http://idp.example/authorize'],
  IDP_TOKEN_URL: ['nowhere', 'http://idp.example/token', 'ftp://idp.example/token'],
  IDP_ISSUERS: [',', ' , '],
  IDP_NAME: [`Id${bell}`],
  IDP_PKCE: ['yes', '1'],
  IDP_TRUSTED_FOR_SECOND_FACTOR: ['yes', '1'],
  BREACHED_PASSWORDS_URL: ['nowhere', 'http://passwords.example/range'],
  SECOND_FACTOR: ['all', 'Operators'],
  PAYMENT_SECRET_KEY: [`sk_test_${bell}`, 'sandbox', 'sk_org_test_1', 'pk_test_1'],
  PAYMENT_WEBHOOK_SECRET: [','],
  PAYMENT_API_URL: ['nowhere', 'http://payment.example'],
  PAYMENT_METHODS: ['Card', 'card;link'],
  PAYMENT_DISPUTES: ['yes', 'End'],
  PAYMENT_TAX: ['true', 'Automatic'],
  PAYMENT_CODES: ['yes', '1'],
  PAYMENT_PAGE_ORIGINS: [',', 'http://pay.example', 'https://pay.example/checkout', 'pay.example', 'https://*.example'],
  PAYMENT_PRICE_GOLD: [`gold${bell}`],
  SMTP_URL: ['smtp:', 'smtp:foo', 'smtp://', 'mail.example', 'https://mail.example'],
  MAIL_FROM: [
    '@',
    'nobody',
    'Gatehouse <@company.example>',
    'Gatehouse <a@b',
    'two words@company.example',
    'a@b\nBcc: c@d',
  ],
  LOG_LEVEL: ['loud'],
  LOG_FORMAT: ['xml'],
  VERIFICATION_TTL_SECONDS: ['59', '604801', 'an hour'],
  SESSION_TTL_DAYS: ['0', '91', 'a month'],
  TOKEN_TTL_SECONDS: ['9', '3601', 'five minutes'],
  SECRET_KEY: [
    'thirty-one characters are few..',
    `${'s'.repeat(32)}${bell}`,
    `${'s'.repeat(32)},thirty-one characters are few..`,
    ',',
  ],
  PAST_DUE_GRACE_DAYS: ['-1', '91'],
  SERVICE_NAME: ['n'.repeat(61), `Name${bell}`],
  SERVICE_URL: ['nowhere', 'javascript:alert(1)'],
  TERMS_URL: ['nowhere', 'javascript:alert(1)'],
  PRIVACY_URL: ['nowhere', 'javascript:alert(1)'],
  SERVICE_LOGO: ['nowhere', 'data:image/png,x', '/no/such/logo.svg'],
  SERVICE_LOGO_DARK: ['nowhere', 'javascript:alert(1)', '/no/such/logo.svg'],
  LOCALES: ['xx', 'en,xx', 'en,en', ',', 'EN'],
  BRAND_COLOR: ['teal', '#12345', '0a6c6c', '#0a6c6g', '#0a6c6c; color: red'],
  SUPPORT_EMAIL: ['@', 'nobody', 'a b@company.example'],
  COOKIE_DOMAIN: ['com', 'company', 'https://company.example', 'company.example'],
  RETURN_ORIGINS: [
    ',',
    'nowhere',
    'https://*.product.example',
    'https://product.example;script-src',
    'https://product.example/path',
    'https://product.example,nowhere',
  ],
  TRUSTED_PROXIES: ['-1', '21', 'all'],
  RATE_LIMITS: ['maybe', 'true'],
  PLANS_FILE: [`plans${bell}.json`],
  APPROVED_DOMAINS: [
    ',',
    '@not a domain',
    '@company.example',
    '*.company.example',
    'company',
    'company.example,a@b.example',
  ],
  METRICS_TOKEN: [`a-token-of-thirty-characters-${bell}`, 'short', `${'long'.repeat(6)},short`],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['nowhere', 'grpc://traces.example'],
  RETENTION_DAYS: ['0', '36501', 'for ever'],
};

describe('a wrong value', () => {
  it('is listed for every variable', () => {
    expect(Object.keys(wrongValues).sort()).toEqual([...Object.keys(variables.shape), 'PAYMENT_PRICE_GOLD'].sort());
    expect(Object.entries(wrongValues).filter(([, values]) => values.length === 0)).toEqual([]);
  });

  const cases = Object.entries(wrongValues).flatMap(([name, values]) => values.map((value) => ({ name, value })));
  it.each(cases)('$name=$value is named in one sentence', ({ name, value }) => {
    let said = '';
    try {
      parseConfig({ [name]: value });
    } catch (error) {
      said = (error as Error).message;
    }
    expect(said).toMatch(new RegExp(`^${name}(: Use| must) .+\\.$`));
    expect(said.split('\n')).toHaveLength(1);
  });
});

describe('parseConfig', () => {
  it('treats an empty variable as unset', () => {
    expect(parseConfig({ PORT: '', PUBLIC_BASE_URL: '  ' })).toEqual(parseConfig({}));
  });

  it('of TOKEN_KEY_SECRET names SECRET_KEY', () => {
    expect(() => parseConfig({ TOKEN_KEY_SECRET: 's'.repeat(32) })).toThrow(/^TOKEN_KEY_SECRET: Set SECRET_KEY /);
  });

  it('names every wrong variable in a line of its own', () => {
    const wrong = { PORT: 'eighty', IDP_TOKEN_URL: 'nowhere', RATE_LIMITS: 'maybe', SESSION_TTL_DAYS: '91' };
    expect(() => parseConfig(wrong)).toThrow(
      /PORT must be .*\nIDP_TOKEN_URL must be .*\nSESSION_TTL_DAYS must be .*\nRATE_LIMITS must be/s,
    );
  });

  it.each([
    [{}, 'http://localhost:3000'],
    [{ PORT: '8080', HOST: '::1' }, 'http://localhost:8080'],
    [{ HOST: '0.0.0.0' }, null],
    [
      { HOST: '0.0.0.0', PUBLIC_BASE_URL: 'https://id.company.example/', DATA_DIR: '/srv/data' },
      'https://id.company.example',
    ],
  ])('derives the canonical base URL of %j', (environment, expected) => {
    expect(parseConfig(environment).publicBaseUrl).toBe(expected);
  });

  it('leaves sign-in through the identity provider off until both values are set', () => {
    expect(parseConfig({ IDP_CLIENT_ID: 'client' }).idp).toBeNull();
    expect(parseConfig({ IDP_CLIENT_SECRET: 'sandbox' }).idp).toBeNull();
    expect(parseConfig({ IDP_CLIENT_ID: 'client', IDP_CLIENT_SECRET: 'sandbox' }).idp).toMatchObject({
      clientId: 'client',
      issuers: ['accounts.google.com', 'https://accounts.google.com'],
    });
  });

  it('takes origins of the payment provider’s pages: https, or http on this machine', () => {
    const PAYMENT_PAGE_ORIGINS = 'https://pay.company.example/, http://localhost:3001';
    const payment = parseConfig({ PAYMENT_SECRET_KEY: 'sk_test_sandbox', PAYMENT_PAGE_ORIGINS }).payment;
    expect(paymentPageOrigins(payment)).toEqual([
      'https://checkout.stripe.com',
      'https://billing.stripe.com',
      'https://invoice.stripe.com',
      'https://pay.company.example',
      'http://localhost:3001',
    ]);
    expect(paymentPageOrigins(parseConfig({ PAYMENT_PAGE_ORIGINS }).payment)).toEqual([]);
  });

  it.each([
    [{}, null],
    [{ PUBLIC_BASE_URL: 'https://id.company.example' }, 'max-age=31536000; includeSubDomains'],
    [{ PUBLIC_BASE_URL: 'https://id.company.example', COOKIE_DOMAIN: 'company.example' }, 'max-age=31536000'],
    [{ PUBLIC_BASE_URL: 'https://company.example', COOKIE_DOMAIN: 'company.example' }, 'max-age=31536000'],
  ])('for %j sends Strict-Transport-Security %j', (environment, expected) => {
    expect(parseConfig({ DATA_DIR: '/srv/data', ...environment }).strictTransportSecurity).toBe(expected);
  });

  it('requires COOKIE_DOMAIN to be a parent of an https PUBLIC_BASE_URL', () => {
    const base = { PUBLIC_BASE_URL: 'https://id.company.example', DATA_DIR: '/srv/data' };
    expect(parseConfig({ ...base, COOKIE_DOMAIN: 'company.example' }).cookieDomain).toBe('company.example');
    expect(() => parseConfig({ ...base, COOKIE_DOMAIN: 'mpany.example' })).toThrow('COOKIE_DOMAIN');
    expect(() => parseConfig({ COOKIE_DOMAIN: 'company.example' })).toThrow('COOKIE_DOMAIN');
  });

  it('refuses a public service for which no database and no folder is named', () => {
    const PUBLIC_BASE_URL = 'https://id.company.example';
    expect(() => parseConfig({ PUBLIC_BASE_URL, DATABASE_URL: ' ' })).toThrow(
      /^DATABASE_URL or DATA_DIR must be set .+\.$/,
    );
    expect(parseConfig({ PUBLIC_BASE_URL, DATA_DIR: '/srv/data' })).toMatchObject({ dataDir: '/srv/data' });
    expect(parseConfig({ PUBLIC_BASE_URL, DATABASE_URL: 'postgres://db/gatehouse' })).toMatchObject({
      databaseUrl: 'postgres://db/gatehouse',
    });
    expect(parseConfig({ PUBLIC_BASE_URL: 'http://localhost:3000' })).toMatchObject({ dataDir: '.data' });
  });

  it.each([
    'postgres://user:word@one:5432,two:5433/gatehouse?target_session_attrs=read-write',
    'postgres://gatehouse@localhost/gatehouse?host=%2Frun%2Fdb',
    'postgres:///gatehouse?host=/run/db',
    'postgresql://[::1]/gatehouse',
  ])('reads %s', (url) => expect(parseConfig({ DATABASE_URL: url }).databaseUrl).toBe(url));

  it('keeps approved domains in the form of addresses', () => {
    expect(parseConfig({ APPROVED_DOMAINS: ' Company.example, BÜRO.example,,' }).approvedDomains).toEqual([
      'company.example',
      'xn--bro-hoa.example',
    ]);
    expect(parseConfig({ APPROVED_DOMAINS: '*' }).approvedDomains).toEqual(['*']);
  });

  it.each(['no-reply@localhost', 'Gatehouse <no-reply@company.example>', '"Gate, house" <no-reply@company.example>'])(
    'takes %s as MAIL_FROM',
    (from) => expect(parseConfig({ MAIL_FROM: from }).mailFrom).toBe(from),
  );
});
