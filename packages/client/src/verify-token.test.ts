import type { webcrypto } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createGatehouse, type Gatehouse } from './client.ts';

type Pair = { kid: string; keys: webcrypto.CryptoKeyPair };

let pairs: Pair[];
let reads: number;
let away: boolean;
let server: Server;
let gatehouse: Gatehouse;

/** A server that publishes the keys of the test, to count how often it is asked. */
beforeEach(async () => {
  [pairs, reads, away] = [[await makePair('one')], 0, false];
  server = createServer(async (_, response) => {
    reads += 1;
    if (away) return void response.destroy();
    const keys = await Promise.all(
      pairs.map(async ({ kid, keys: { publicKey } }) => {
        return { ...(await crypto.subtle.exportKey('jwk', publicKey)), kid, alg: 'EdDSA' };
      }),
    );
    response.end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  gatehouse = createGatehouse({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, retries: 0 });
});
afterEach(() => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
});

async function makePair(kid: string): Promise<Pair> {
  const keys: unknown = await crypto.subtle.generateKey({ name: 'Ed25519' }, true, ['sign', 'verify']);
  return { kid, keys: keys as webcrypto.CryptoKeyPair };
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

async function signed(
  change: object = {},
  { kid, keys }: Pair = pairs[0] as Pair,
  header: object = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: gatehouse.url, aud: gatehouse.url, sub: 'u', iat: now, exp: now + 60, ...change };
  const text = `${encoded({ alg: 'EdDSA', kid, ...header })}.${encoded(claims)}`;
  const signature = await crypto.subtle.sign({ name: 'Ed25519' }, keys.privateKey, Buffer.from(text));
  return `${text}.${Buffer.from(signature).toString('base64url')}`;
}

/** Moves the clock of the client forward. */
function later(milliseconds: number): void {
  for (const clock of [Date, performance]) {
    const now = clock.now();
    vi.spyOn(clock, 'now').mockReturnValue(now + milliseconds);
  }
}

it('asks for the keys once for parallel tokens, and again after five minutes', async () => {
  const token = await signed({ exp: 4_000_000_000 });
  const verify = () => gatehouse.tokens.verify(token);
  expect(await Promise.all([verify(), verify(), verify()])).toHaveLength(3);
  expect(reads).toBe(1);
  later(299_000);
  await verify();
  expect(reads).toBe(1);
  later(2_000);
  await verify();
  expect(reads).toBe(2);
});

it('asks at once for a key that it does not know, but tokens with invented keys cause one request in five seconds', async () => {
  await gatehouse.tokens.verify(await signed());
  pairs.push(await makePair('two'));
  later(6_000);
  expect(await gatehouse.tokens.verify(await signed({}, pairs[1]))).toMatchObject({ sub: 'u' });
  const invented = await signed({}, await makePair('three'));
  for (let n = 0; n < 5; n++) await expect(gatehouse.tokens.verify(invented)).rejects.toMatchObject({ status: 401 });
  expect(reads).toBe(2);
});

it('keeps verifying for an hour while Gatehouse does not answer', async () => {
  const token = await signed({ exp: 4_000_000_000 });
  await gatehouse.tokens.verify(token);
  away = true;
  later(3_590_000);
  expect(await gatehouse.tokens.verify(token)).toMatchObject({ sub: 'u' });
  later(20_000);
  await expect(gatehouse.tokens.verify(token)).rejects.toMatchObject({ status: 0 });
});

it.each([
  ['expired', { exp: Math.floor(Date.now() / 1000) - 6 }],
  ['of the future', { iat: Math.floor(Date.now() / 1000) + 60 }],
  ['without an end', { exp: undefined }],
  ['with an end that is text', { exp: '4000000000' }],
  ['of another issuer', { iss: 'https://other.example' }],
  ['for another service', { aud: 'https://other.example' }],
  ['for several services', { aud: ['https://other.example'] }],
])('refuses a token %s', async (_, change) => {
  await expect(gatehouse.tokens.verify(await signed(change))).rejects.toMatchObject({ status: 401 });
});

it('refuses a token of another key with a known name, and of another algorithm', async () => {
  const other = await makePair('one');
  await expect(gatehouse.tokens.verify(await signed({}, other))).rejects.toMatchObject({ status: 401 });
  for (const alg of ['none', 'HS256', 'Ed25519', undefined]) {
    await expect(gatehouse.tokens.verify(await signed({}, pairs[0], { alg }))).rejects.toMatchObject({ status: 401 });
  }
});
