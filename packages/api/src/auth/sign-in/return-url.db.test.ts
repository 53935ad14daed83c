import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../platform/config.ts';
import { returnUrls } from '../../platform/db/schema/sign-in.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner, testClient } from '../../testing/factories.ts';
import { allowedReturnUrl, consumeReturnUrl, mayReturn, storeReturnPath, storeReturnUrl } from './return-url.ts';

const origins = 'https://app.company.example,https://Other.company.example:8443,http://localhost:4000';
const config = parseConfig({ RETURN_ORIGINS: origins });

describe('a return URL', () => {
  it.each([
    ['https://app.company.example', 'https://app.company.example/'],
    ['https://app.company.example/orders?page=2#last', 'https://app.company.example/orders?page=2#last'],
    ['HTTPS://APP.Company.Example/Orders', 'https://app.company.example/Orders'],
    ['https://app.company.example:443/x', 'https://app.company.example/x'],
    ['https://other.company.example:8443/', 'https://other.company.example:8443/'],
    ['http://localhost:4000/x', 'http://localhost:4000/x'],
    // Unusual spellings are normalised, so that the browser follows what was checked.
    [' https://app.company.example/x\n', 'https://app.company.example/x'],
    ['https:\\\\app.company.example\\@evil.example', 'https://app.company.example/@evil.example'],
    ['https:app.company.example/x', 'https://app.company.example/x'],
    ['https:/app.company.example/x', 'https://app.company.example/x'],
    ['https:////app.company.example/x', 'https://app.company.example/x'],
    ['https://app.company.example/\r\nSet-Cookie: a=b', 'https://app.company.example/Set-Cookie:%20a=b'],
    ['https://app%2Ecompany%2Eexample/x', 'https://app.company.example/x'],
    ['https://ａｐｐ.company.example/x', 'https://app.company.example/x'],
    ['https://app.company.example//evil.example', 'https://app.company.example//evil.example'],
    [
      'https://app.company.example/?next=https://evil.example',
      'https://app.company.example/?next=https://evil.example',
    ],
  ])('%j is %s', (wanted, url) => {
    expect(allowedReturnUrl(config, wanted)).toBe(url);
  });

  it.each([
    '',
    '/',
    'orders',
    '//evil.example',
    '//app.company.example',
    '\\\\evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'https://evil.example',
    'https://evil.example/https://app.company.example',
    'https://evil.example#https://app.company.example',
    'https://evil.example?https://app.company.example',
    'https://evil.example\\@app.company.example',
    'https://app.company.example@evil.example',
    'https://app.company.example:x@evil.example',
    'https://app.company.example%40evil.example',
    'https://app.company.example%2F@evil.example',
    'https://somebody@app.company.example',
    'https://somebody:word@app.company.example',
    'https://:@evil.example',
    'https://app.company.example.',
    'https://app.company.example..',
    'https://app.company.example.evil.example',
    'https://evil-app.company.example',
    'https://company.example',
    'https://sub.app.company.example',
    'https://app.company.example:8443',
    'https://app.company.example:80',
    'https://app.company.example:0443x',
    'https://other.company.example',
    'http://app.company.example',
    'http://localhost',
    'http://localhost:4001',
    'http://127.0.0.1:4000',
    'ws://app.company.example',
    'ftp://app.company.example',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'JavaScript://app.company.example/%0aalert(1)',
    'data:text/html,<script>alert(1)</script>',
    'blob:https://app.company.example/0b6f7d6e',
    'filesystem:https://app.company.example/x',
    'view-source:https://app.company.example',
    'https%3A%2F%2Fapp.company.example',
    'https://app.company.exаmple',
    'https://app。company。evil',
    'null',
    '*',
    `https://app.company.example/${'x'.repeat(2000)}`,
  ])('%j is not allowed', (wanted) => {
    expect(allowedReturnUrl(config, wanted)).toBeNull();
  });

  it('is not allowed if RETURN_ORIGINS is empty', () => {
    const none = parseConfig({});
    expect(allowedReturnUrl(none, 'https://app.company.example')).toBeNull();
    expect(allowedReturnUrl(none, 'null')).toBeNull();
    expect(allowedReturnUrl(none, 'http://localhost:3000')).toBeNull();
  });
});

describe('a stored return URL', () => {
  const wanted = 'https://app.company.example/orders';
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp({ environment: { RETURN_ORIGINS: origins }, work: false });
  });
  afterAll(() => test.close());

  async function keep(url = wanted, replaced: string | null = null) {
    const cookie = await storeReturnUrl(test.app, { wanted: url, replaced }, testClient);
    if (cookie === null) throw new Error(`${url} was not kept`);
    return cookie;
  }

  it('is consumed once by 20 parallel attempts', async () => {
    const cookie = await keep();
    const taken = await Promise.all(Array.from({ length: 20 }, () => consumeReturnUrl(test.app, cookie)));
    expect(taken.filter((url) => url !== null)).toEqual([wanted]);
  });

  it('of a product stays for a user without an organisation, whom a path of ours leads on', async () => {
    const product =
      (await storeReturnUrl(test.app, { wanted: 'https://app.company.example/x', replaced: null }, testClient)) ?? '';
    expect(await consumeReturnUrl(test.app, product, { pathOnly: true })).toBeNull();
    expect(await consumeReturnUrl(test.app, product)).toBe('https://app.company.example/x');
    const path = (await storeReturnPath(test.app, { path: '/account/delete', replaced: null }, testClient)) ?? '';
    expect(await consumeReturnUrl(test.app, path, { pathOnly: true })).toBe('/account/delete');
  });

  it('is replaced by the next one of the same browser', async () => {
    const first = await keep();
    const second = await keep('https://app.company.example/second', first);
    expect(await consumeReturnUrl(test.app, first)).toBeNull();
    expect(await consumeReturnUrl(test.app, second)).toBe('https://app.company.example/second');
  });

  it('stays when the next one is refused', async () => {
    const cookie = await keep();
    expect(await storeReturnUrl(test.app, { wanted: 'https://evil.example', replaced: cookie }, testClient)).toBeNull();
    expect(await consumeReturnUrl(test.app, cookie)).toBe(wanted);
  });

  it('expires after an hour', async () => {
    const [early, late] = [await keep(), await keep()];
    test.advance(59 * 60_000);
    expect(await consumeReturnUrl(test.app, early)).toBe(wanted);
    test.advance(61_000);
    expect(await consumeReturnUrl(test.app, late)).toBeNull();
  });

  it('is not returned after its origin was removed from RETURN_ORIGINS', async () => {
    const cookie = await keep();
    const changed = { ...test.app, config: { ...test.app.config, returnOrigins: ['https://new.company.example'] } };
    expect(await consumeReturnUrl(changed, cookie)).toBeNull();
  });

  it('is stored under a hash of its cookie', async () => {
    const cookie = await keep();
    expect(JSON.stringify(await test.app.db.select().from(returnUrls))).not.toContain(cookie);
  });
});

describe('a stored path of this service', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp({ work: false });
  });
  afterAll(() => test.close());

  it.each(['/billing', '/members?remove=1', '/operator/people/1'])('%j is returned once', async (path) => {
    const cookie = await storeReturnPath(test.app, { path, replaced: null }, testClient);
    expect(await consumeReturnUrl(test.app, cookie ?? '')).toBe(path);
    expect(await consumeReturnUrl(test.app, cookie ?? '')).toBeNull();
  });

  it.each(['', 'billing', '//evil.example', '/\\evil.example', '/\t/evil.example', `/${'x'.repeat(2000)}`])(
    '%j is not stored',
    async (path) => {
      expect(await storeReturnPath(test.app, { path, replaced: null }, testClient)).toBeNull();
    },
  );
});

describe('a session', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp({ environment: { RETURN_ORIGINS: origins }, work: false });
    test.stopClock();
  });
  afterAll(() => test.close());

  it('is not led to one origin twice within ten seconds, also by parallel requests', async () => {
    const { sessionId } = (await makeOwner(test)).principal;
    const other = (await makeOwner(test)).principal;
    const lead = (url: string, id = sessionId) => mayReturn(test.app, id, url);
    const both = await Promise.all([lead('https://app.company.example/one'), lead('https://app.company.example/two')]);
    expect(both.sort()).toEqual([false, true]);
    expect(await lead('http://localhost:4000/')).toBe(true);
    expect(await lead('https://app.company.example/one', other.sessionId)).toBe(true);
    expect(await lead('http://localhost:4000/other')).toBe(false);
    test.advance(10_001);
    expect(await lead('http://localhost:4000/')).toBe(true);
  });

  it('is not led round several products that each send it back, until it paused for ten seconds', async () => {
    const { sessionId } = (await makeOwner(test)).principal;
    const lead = (url: string) => mayReturn(test.app, sessionId, url);
    const [one, other, third] = [
      'https://app.company.example/',
      'http://localhost:4000/',
      'https://other.company.example/',
    ];
    expect([await lead(one), await lead(other), await lead(one), await lead(other)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    test.advance(6_000);
    expect([await lead(third), await lead(other), await lead(one)]).toEqual([true, false, false]);
    test.advance(10_001);
    expect([await lead(one), await lead(other), await lead(one)]).toEqual([true, true, false]);
  });

  it('is led by two parallel requests to each of two products once', async () => {
    const { sessionId } = (await makeOwner(test)).principal;
    const urls = ['https://app.company.example/', 'http://localhost:4000/'];
    const led = await Promise.all([...urls, ...urls].map((url) => mayReturn(test.app, sessionId, url)));
    expect(led.filter((may) => may)).toHaveLength(2);
  });
});
