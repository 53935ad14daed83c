import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseConfig, variables } from './config.ts';
import { isPriceVariable } from './config-warnings.ts';

const letters = fc.constantFrom('A', 'E', 'X', '_');

const warningsOf = (environment: Record<string, string>) => parseConfig(environment).warnings;

const onTheWeb = { PUBLIC_BASE_URL: 'https://id.company.example', DATA_DIR: 'data', SECRET_KEY: 's'.repeat(32) };

describe('the warnings of a configuration', () => {
  it.each([
    [{ IDP_CLIENT_ID: 'client' }, /^IDP_CLIENT_ID is set and IDP_CLIENT_SECRET is not: .+\.$/],
    [{ IDP_CLIENT_SECRET: 'sandbox' }, /^IDP_CLIENT_SECRET is set and IDP_CLIENT_ID is not: .+\.$/],
    [{ PAYMENT_SECRET_KEY: 'sk_test_sandbox' }, /^PAYMENT_SECRET_KEY is set and PAYMENT_WEBHOOK_SECRET is not: .+\.$/],
    [{ PAYMENT_WEBHOOK_SECRET: 'sandbox' }, /^PAYMENT_WEBHOOK_SECRET is set and PAYMENT_SECRET_KEY is not: .+\.$/],
    [{ TOKEN_TTL_SECONDS: '300', HOST: '0.0.0.0' }, /^TOKEN_TTL_SECONDS is set and PUBLIC_BASE_URL is not: .+\.$/],
    [{ PUBLIC_BASE_URL: onTheWeb.PUBLIC_BASE_URL, DATA_DIR: 'data' }, /^SECRET_KEY is unset: .+\.$/],
    [{ DATABASE_URI: 'postgres://db/gatehouse' }, /^DATABASE_URI .* Perhaps it is DATABASE_URL\.$/],
    [{ PUBLIC_BASEURL: 'https://id.company.example' }, /^PUBLIC_BASEURL .* Perhaps it is PUBLIC_BASE_URL\.$/],
    [{ PAYMENT_PRICES_GOLD: 'gold_monthly' }, /^PAYMENT_PRICES_GOLD .* Perhaps it is PAYMENT_PRICE_GOLD\.$/],
    [{ payment_price_gold: 'gold_monthly' }, /^payment_price_gold .* Perhaps it is PAYMENT_PRICE_GOLD\.$/],
    [{ SMTP_ULR: 'smtp://mail.company.example' }, /^SMTP_ULR .* Perhaps it is SMTP_URL\.$/],
    [{ SMT_PURL: 'smtp://mail.company.example' }, /^SMT_PURL .* Perhaps it is SMTP_URL\.$/],
    [{ TRUSTED_PROXY: '1' }, /^TRUSTED_PROXY .* Perhaps it is TRUSTED_PROXIES\.$/],
    [{ smtp_url: 'smtp://mail.company.example' }, /^smtp_url .* Perhaps it is SMTP_URL\.$/],
  ])('of %j name the variable', (environment, said) => {
    expect(warningsOf(environment)).toEqual([expect.stringMatching(said)]);
  });

  it('name a long variable of which two letters are wrong, missing or too many', () => {
    const long = Object.keys(variables.shape).filter((name) => name.length >= 10);
    const edit = fc.record({ kind: fc.constantFrom('insert', 'remove', 'replace'), at: fc.nat(), letter: letters });
    fc.assert(
      fc.property(fc.constantFrom(...long), fc.array(edit, { minLength: 1, maxLength: 2 }), (name, edits) => {
        const typed = edits.reduce((text, { kind, at, letter }) => {
          const place = at % text.length;
          const rest = text.slice(kind === 'insert' ? place : place + 1);
          return text.slice(0, place) + (kind === 'remove' ? '' : letter) + rest;
        }, name);
        fc.pre(!(typed in variables.shape) && !isPriceVariable(typed));
        expect(warningsOf({ [typed]: 'x' })).toEqual([
          expect.stringMatching(`^${typed} is not a variable of Gatehouse`),
        ]);
      }),
    );
  });

  it('are none where a pair is whole, or a value empty', () => {
    expect(warningsOf({ IDP_CLIENT_ID: 'client', IDP_CLIENT_SECRET: 'sandbox', DATABASE_URI: '' })).toEqual([]);
    expect(warningsOf({ ...onTheWeb, TOKEN_TTL_SECONDS: '300' })).toEqual([]);
    expect(warningsOf({ TOKEN_TTL_SECONDS: '300' })).toEqual([]);
    expect(warningsOf({ PAYMENT_SECRET_KEY: 'sk_test_sandbox', PAYMENT_WEBHOOK_SECRET: 'sandbox' })).toEqual([]);
  });

  it('are none for names that other programs set, and for the variables themselves', () => {
    const others = ['HOSTNAME', 'PATH', 'HOME', 'PWD', 'LANG', 'MAIL', 'POST', 'NODE_ENV', 'SMTP_USER', 'SERVICE_PORT'];
    expect(warningsOf(Object.fromEntries(others.map((name) => [name, 'x'])))).toEqual([]);
    expect(warningsOf({ PAYMENT_PRICE_PLATINUM: 'platinum_monthly', PAYMENT_PRICE_SLIVER: 'x' })).toEqual([]);
    const example = Object.fromEntries(Object.keys(variables.shape).map((name) => [name, '']));
    expect(warningsOf(example)).toEqual([]);
  });
});
