import type { webcrypto } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createGatehouse, type Gatehouse } from './client.ts';

type Pair = { kid: string; keys: webcrypto.CryptoKeyPair };

let pairs: Pair[];
let reads: number;
let unreachable: boolean;
let silent: boolean;
let published: string | null;
let server: Server;
let gatehouse: Gatehouse;

/** Starts a server that publishes the keys of the test and counts the requests. */
beforeEach(async () => {
  [pairs, reads, unreachable] = [[await makePair('one')], 0, false];
  [silent, published] = [false, null];
  server = createServer(async (_, response) => {
    reads += 1;
    if (unreachable) return void response.destroy();
    if (silent) return;
    if (published !== null) return void response.end(published);
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

async function signToken(
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
function advanceClock(milliseconds: number): void {
  for (const clock of [Date, performance]) {
    const now = clock.now();
    vi.spyOn(clock, 'now').mockReturnValue(now + milliseconds);
  }
}

it('requests the keys once for parallel tokens, and again after five minutes', async () => {
  const token = await signToken({ exp: 4_000_000_000 });
  const verify = () => gatehouse.tokens.verify(token);
  expect(await Promise.all([verify(), verify(), verify()])).toHaveLength(3);
  expect(reads).toBe(1);
  advanceClock(299_000);
  await verify();
  expect(reads).toBe(1);
  advanceClock(2_000);
  await verify();
  await vi.waitFor(() => expect(reads).toBe(2), 30_000);
});

it('verifies with a known key at once while the keys are read again', async () => {
  const patient = createGatehouse({ url: gatehouse.url, timeoutMilliseconds: 600_000 });
  const token = await signToken({ exp: 4_000_000_000 });
  await patient.tokens.verify(token);
  silent = true;
  advanceClock(301_000);
  expect(await patient.tokens.verify(token)).toMatchObject({ sub: 'u' });
  await vi.waitFor(() => expect(reads).toBe(2), 30_000);
  expect(await patient.tokens.verify(token)).toMatchObject({ sub: 'u' });
});

it.each(['{}', '[]', '{"keys":{}}'])('throws a GatehouseError where the keys are %s', async (answer) => {
  published = answer;
  await expect(gatehouse.tokens.verify(await signToken())).rejects.toMatchObject({ status: 0, code: 'UNREACHABLE' });
});

it('requests an unknown key at once, but tokens with unknown keys cause one request in five seconds', async () => {
  await gatehouse.tokens.verify(await signToken());
  pairs.push(await makePair('two'));
  advanceClock(6_000);
  expect(await gatehouse.tokens.verify(await signToken({}, pairs[1]))).toMatchObject({ sub: 'u' });
  const invented = await signToken({}, await makePair('three'));
  for (let n = 0; n < 5; n++) await expect(gatehouse.tokens.verify(invented)).rejects.toMatchObject({ status: 401 });
  expect(reads).toBe(2);
});

it('keeps verifying for an hour while Gatehouse does not answer', async () => {
  const token = await signToken({ exp: 4_000_000_000 });
  await gatehouse.tokens.verify(token);
  unreachable = true;
  advanceClock(3_590_000);
  expect(await gatehouse.tokens.verify(token)).toMatchObject({ sub: 'u' });
  advanceClock(20_000);
  await expect(gatehouse.tokens.verify(token)).rejects.toMatchObject({ status: 0 });
});

it.each([
  ['expired', { exp: Math.floor(Date.now() / 1000) - 6 }, 'expired'],
  ['from the future', { iat: Math.floor(Date.now() / 1000) + 60 }, 'not_yet_valid'],
  ['without an end', { exp: undefined }, 'malformed'],
  ['with an end that is text', { exp: '4000000000' }, 'malformed'],
  ['of another issuer', { iss: 'https://other.example' }, 'issuer'],
  ['for another service', { aud: 'https://other.example' }, 'audience'],
  ['for several services', { aud: ['https://other.example'] }, 'audience'],
])('refuses a token %s, and says why', async (_, change, reason) => {
  const refused = { status: 401, code: 'UNAUTHENTICATED', reason };
  await expect(gatehouse.tokens.verify(await signToken(change))).rejects.toMatchObject(refused);
});

it('refuses a token of another key with a known name, and of another algorithm', async () => {
  const other = await makePair('one');
  await expect(gatehouse.tokens.verify(await signToken({}, other))).rejects.toMatchObject({ reason: 'signature' });
  for (const alg of ['none', 'HS256', 'Ed25519', undefined]) {
    const token = await signToken({}, pairs[0], { alg });
    await expect(gatehouse.tokens.verify(token)).rejects.toMatchObject({ status: 401, reason: 'malformed' });
  }
  const unknown = await signToken({}, await makePair('never published'));
  await expect(gatehouse.tokens.verify(unknown)).rejects.toMatchObject({ status: 401, reason: 'key_unknown' });
});

it('accepts clocks that differ by the tolerance', async () => {
  const now = Math.floor(Date.now() / 1000);
  const [old, early] = [await signToken({ exp: now - 20 }), await signToken({ iat: now + 20, exp: now + 60 })];
  for (const token of [old, early]) {
    await expect(gatehouse.tokens.verify(token)).rejects.toMatchObject({ status: 401 });
    expect(await gatehouse.tokens.verify(token, { toleranceSeconds: 30 })).toMatchObject({ sub: 'u' });
  }
  await expect(gatehouse.tokens.verify(await signToken({ exp: now }), { toleranceSeconds: 0 })).rejects.toMatchObject({
    reason: 'expired',
  });
});

it('expects the public URL as issuer and audience where Gatehouse is reached by another address', async () => {
  const inside = createGatehouse({ url: gatehouse.url, publicUrl: 'https://id.company.example/' });
  const token = await signToken({ iss: 'https://id.company.example', aud: 'https://id.company.example' });
  expect(await inside.tokens.verify(token)).toMatchObject({ sub: 'u' });
  await expect(inside.tokens.verify(await signToken())).rejects.toMatchObject({ reason: 'issuer' });
});
