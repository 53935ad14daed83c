import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseConfig, variables } from './config.ts';

const example = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');
const assignments = [...example.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]);

describe('.env.example', () => {
  it('lists every variable that is read, and no other', () => {
    expect(assignments.map(([name]) => name).sort()).toEqual(Object.keys(variables.shape).sort());
  });

  it('is a valid configuration that equals the defaults', () => {
    expect(parseConfig(Object.fromEntries(assignments))).toEqual(parseConfig({}));
  });
});

describe('parseConfig', () => {
  it('takes an empty variable for an unset one', () => {
    expect(parseConfig({ PORT: '', PUBLIC_BASE_URL: '  ' })).toEqual(parseConfig({}));
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
    [{ HOST: '0.0.0.0', PUBLIC_BASE_URL: 'https://id.company.example/' }, 'https://id.company.example'],
  ])('derives the canonical base URL of %j', (environment, expected) => {
    expect(parseConfig(environment).publicBaseUrl).toBe(expected);
  });

  it.each(['http://company.example', 'https://company.example/path', 'company.example', 'javascript:alert(1)'])(
    'refuses %s as PUBLIC_BASE_URL',
    (value) => expect(() => parseConfig({ PUBLIC_BASE_URL: value })).toThrow('PUBLIC_BASE_URL must be'),
  );

  it('leaves sign-in through the identity provider off until both values are set', () => {
    expect(parseConfig({ IDP_CLIENT_ID: 'client' }).idp).toBeNull();
    expect(parseConfig({ IDP_CLIENT_SECRET: 'sandbox' }).idp).toBeNull();
    expect(parseConfig({ IDP_CLIENT_ID: 'client', IDP_CLIENT_SECRET: 'sandbox' }).idp).toMatchObject({
      clientId: 'client',
      issuers: ['accounts.google.com', 'https://accounts.google.com'],
    });
  });

  it('wants COOKIE_DOMAIN to be a parent of an https PUBLIC_BASE_URL', () => {
    const base = { PUBLIC_BASE_URL: 'https://id.company.example' };
    expect(parseConfig({ ...base, COOKIE_DOMAIN: 'company.example' }).cookieDomain).toBe('company.example');
    expect(() => parseConfig({ ...base, COOKIE_DOMAIN: 'mpany.example' })).toThrow('COOKIE_DOMAIN');
    expect(() => parseConfig({ COOKIE_DOMAIN: 'company.example' })).toThrow('COOKIE_DOMAIN');
  });

  it('reads addresses of databases with several hosts', () => {
    const url = 'postgres://user:word@one:5432,two:5433/gatehouse?target_session_attrs=read-write';
    expect(parseConfig({ DATABASE_URL: url }).databaseUrl).toBe(url);
  });
});
