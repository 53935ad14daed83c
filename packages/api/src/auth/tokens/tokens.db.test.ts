import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../app.ts';
import { createApp } from '../../create-app.ts';
import { tokenKeys } from '../../platform/db/schema/tokens.ts';
import { dayMilliseconds, hourMilliseconds } from '../../platform/durations.ts';
import { keyNames } from '../../platform/security/encryption.ts';
import type { Caller } from '../../router/root.ts';
import { serviceUrl, startTestApp, type TestApp } from '../../testing/app.ts';
import { migrationsFolder } from '../../testing/database/database.ts';
import { makeKey } from '../../testing/keys.ts';
import { countOldSecrets, encryptAnew } from '../encrypt-anew.ts';
import { decryptKey, rotateTokenKeys, type TokensApp } from './token-keys.ts';

const secret = 'a secret of thirty-two characters or more';

let test: TestApp;
let api: Caller;
beforeAll(async () => {
  test = await startTestApp({ environment: { TOKEN_TTL_SECONDS: '300', SECRET_KEY: secret }, work: false });
});
afterAll(() => test.close());
beforeEach(async () => {
  await test.app.db.delete(tokenKeys);
});

const issue = async () => (await api.tokens.issue({})).token;
const kidOf = (token: string) => decodeProtectedHeader(token).kid;
const published = async () => (await api.tokens.keySet()).keys.map(({ kid }) => kid);
async function verifies(token: string): Promise<boolean> {
  const keySet = createLocalJWKSet(await api.tokens.keySet());
  const options = { issuer: serviceUrl, audience: serviceUrl, currentDate: test.app.now() };
  return jwtVerify(token, keySet, options).then(
    () => true,
    () => false,
  );
}

/** A second node on the same database. */
async function anotherNode(changed: Partial<App['config']> = {}): Promise<App> {
  const config = { ...test.app.config, ...changed };
  return createApp({ config, migrations: migrationsFolder, work: false, log: test.app.log, now: test.app.now });
}

describe('the keys that sign tokens', () => {
  beforeAll(async () => {
    ({ api } = await makeKey(test));
  });

  it('are created once by parallel requests and nodes', async () => {
    const other = await anotherNode();
    await Promise.all([
      ...Array.from({ length: 20 }, () => issue()),
      ...Array.from({ length: 20 }, () => rotateTokenKeys(other)),
    ]);
    expect(await test.app.db.$count(tokenKeys)).toBe(1);

    test.advance(dayMilliseconds);
    await Promise.all([
      ...Array.from({ length: 20 }, () => issue()),
      ...Array.from({ length: 20 }, () => rotateTokenKeys(other)),
    ]);
    expect(await test.app.db.$count(tokenKeys)).toBe(2);
    await other.close();
  });

  it('are published an hour before they sign, and kept until the last token they signed has expired', async () => {
    test.stopClock();
    const first = await issue();
    test.advance(23 * hourMilliseconds);
    expect(await published()).toEqual([kidOf(first), expect.any(String)]);
    expect(kidOf(await issue())).toBe(kidOf(first));

    test.advance(hourMilliseconds - 1000);
    const last = await issue();
    expect(kidOf(last)).toBe(kidOf(first));
    test.advance(1000);
    const next = await issue();
    expect(kidOf(next)).not.toBe(kidOf(first));
    test.advance(298_000);
    await rotateTokenKeys(test.app);
    expect([await verifies(last), await verifies(next)]).toEqual([true, true]);

    test.advance(hourMilliseconds + 60_000);
    await rotateTokenKeys(test.app);
    expect(await published()).toEqual([kidOf(next)]);
  });

  it('sign with the old key after a pause of days, until the next key was published for an hour', async () => {
    const first = await issue();
    test.advance(10 * dayMilliseconds);
    expect(kidOf(await issue())).toBe(kidOf(first));
    await rotateTokenKeys(test.app);
    expect(await published()).toHaveLength(2);
    test.advance(hourMilliseconds);
    expect(kidOf(await issue())).not.toBe(kidOf(first));
  });

  it('are stored encrypted, and one of another key of SECRET_KEY is published and never used', async () => {
    const token = await issue();
    const [row] = await test.app.db.select().from(tokenKeys);
    expect(row?.privateKey).not.toContain('"d"');
    expect(JSON.stringify(row)).not.toContain(secret);

    const other = await anotherNode({ secretKeys: ['another secret of thirty-two characters'] });
    await rotateTokenKeys(other);
    await rotateTokenKeys(test.app);
    expect(await test.app.db.$count(tokenKeys)).toBe(2);
    expect(kidOf(await issue())).toBe(kidOf(token));
    expect(await published()).toHaveLength(2);
    const lost = (await test.app.db.select().from(tokenKeys)).find((each) => each.encryptedBy !== row?.encryptedBy);
    test.advance(4 * dayMilliseconds);
    await rotateTokenKeys(test.app);
    expect(await published()).not.toContain(lost?.id);
    await other.close();
  });

  it('go on signing after a roll of SECRET_KEY, encrypted anew under the first key', async () => {
    const token = await issue();
    const rolled = await anotherNode({ secretKeys: ['another secret of thirty-two characters', secret] });
    await encryptAnew(rolled);
    await rotateTokenKeys(rolled);
    const rows = await test.app.db.select().from(tokenKeys);
    expect(rows.map(({ id, encryptedBy }) => [id, encryptedBy])).toEqual([
      [kidOf(token), keyNames(rolled.config.secretKeys)[0]],
    ]);
    const withoutOld = await anotherNode({ secretKeys: ['another secret of thirty-two characters'] });
    expect(decryptKey(withoutOld as TokensApp, rows[0] as never)).toMatchObject({ kty: 'OKP', d: expect.any(String) });
    await rolled.close();
    await withoutOld.close();
  });

  it('of a node that lacked a key of SECRET_KEY and of one that has it go on as one, and every secret is encrypted anew', async () => {
    const first = kidOf(await issue());
    const lacking = await anotherNode({ secretKeys: ['another secret of thirty-two characters'] });
    await rotateTokenKeys(lacking);
    const rolled = await anotherNode({ secretKeys: ['another secret of thirty-two characters', secret] });
    await encryptAnew(rolled);
    await encryptAnew(rolled);
    expect(await countOldSecrets(rolled)).toEqual({ older: 0, lost: 0 });
    const rows = await test.app.db.select().from(tokenKeys);
    expect(rows.filter(({ signsUntil }) => signsUntil === null).map(({ id }) => id)).not.toContain(first);
    expect(rows).toHaveLength(2);
    await lacking.close();
    await rolled.close();
  });

  it('are stored as they are without SECRET_KEY, and encrypted once there is one', async () => {
    const plain = await anotherNode({ secretKeys: [] });
    await rotateTokenKeys(plain);
    const [before] = await test.app.db.select().from(tokenKeys);
    expect(before).toMatchObject({ encryptedBy: '', privateKey: expect.stringContaining('"d"') });
    await encryptAnew(test.app);
    const [after] = await test.app.db.select().from(tokenKeys);
    expect(after).toMatchObject({ id: before?.id, encryptedBy: keyNames([secret])[0] });
    expect(kidOf(await issue())).toBe(before?.id);
    await plain.close();
  });
});
