import type { IncomingMessage } from 'node:http';
import { requesterOf } from '@gatehouse/api/platform/security/client';
import { expect, it, vi } from 'vitest';
import { createAdmission } from './admission.ts';

const get = { method: 'GET', headers: {} } as IncomingMessage;
const signedIn = { method: 'GET', headers: { cookie: 'session=x' } } as IncomingMessage;
const unread = { method: 'GET', headers: { cookie: 'session=y' } } as IncomingMessage;
const shared = { method: 'GET', headers: { cookie: 'a=b; __Secure-gatehouse=x' } } as IncomingMessage;
const post = { method: 'POST', headers: {} } as IncomingMessage;

/** A client whose session x was valid recently. */
function from(address: string) {
  return {
    requester: requesterOf(address),
    isRecent: ({ cookie }: IncomingMessage['headers']) => /x$/.test(cookie ?? ''),
  };
}

function admitted(
  admission: ReturnType<typeof createAdmission>,
  request: IncomingMessage,
  path: string,
  client: string,
) {
  return Array.from({ length: 3000 }, () => admission.admit(request, path, from(client))).filter(
    (place) => place !== null,
  );
}

it('a client that reaches its limit does not block others', () => {
  const admission = createAdmission();
  expect(admitted(admission, post, '/api/login', '192.0.2.1')).toHaveLength(150);
  expect(admission.admit(get, '/login', from('192.0.2.2'))).not.toBeNull();
  expect(admission.admit(get, '/login', from('192.0.2.1'))).toBeNull();
});

it('the addresses of one IPv6 subscriber count as one client', () => {
  const admission = createAdmission();
  expect(admitted(admission, post, '/api/login', '2001:db8::1')).toHaveLength(150);
  expect(admission.admit(post, '/api/login', from('2001:db8::2'))).toBeNull();
});

it('a flood of one class of requests does not block the others', () => {
  const admission = createAdmission();
  for (let client = 1; client < 9; client++) {
    admitted(admission, post, '/api/login', `192.0.2.${client}`);
    admitted(admission, post, '/webhooks/payment', `192.0.2.${client}`);
    admitted(admission, signedIn, '/api/changes?wait=60', `192.0.2.${client}`);
  }
  expect(admission.admit(post, '/webhooks/payment', from('192.0.2.20'))).toBeNull();
  expect(admission.admit(signedIn, '/api/changes?wait=60', from('192.0.2.20'))).toBeNull();
  expect(admission.admit(signedIn, '/api/session', from('192.0.2.20'))).not.toBeNull();
});

it('only a signed-in request of exactly /api/changes counts as waiting', () => {
  const admission = createAdmission();
  expect(admitted(admission, get, '/api/changes?wait=60', '192.0.2.1')).toHaveLength(150);
  expect(admitted(admission, signedIn, '/api/changesX', '192.0.2.1')).toHaveLength(225);
});

it('a request that has ended no longer counts', () => {
  const admission = createAdmission();
  const [place] = admitted(admission, post, '/api/login', '192.0.2.1');
  place?.leave();
  expect(admission.admit(post, '/api/login', from('192.0.2.1'))).not.toBeNull();
});

it('the bodies of a client and of a class are bounded, whatever length each announces', () => {
  const admission = createAdmission();
  const event = (headers: object) => ({ method: 'POST', headers }) as IncomingMessage;
  const large = event({ 'content-length': '999999999999' });
  const small = event({ 'content-length': '2' });
  expect(admitted(admission, large, '/webhooks/payment', '192.0.2.1')).toHaveLength(8);
  expect(admission.admit(small, '/webhooks/payment', from('192.0.2.1'))).toBeNull();
  expect(admission.admit(small, '/webhooks/payment', from('192.0.2.2'))).not.toBeNull();

  for (const client of ['192.0.2.3', '192.0.2.4', '192.0.2.5']) admitted(admission, large, '/webhooks/payment', client);
  expect(admitted(admission, large, '/webhooks/payment', '192.0.2.6')).toHaveLength(2);
  expect(admitted(admission, large, '/webhooks/payment', '192.0.2.7')).toHaveLength(1);
  expect(admission.admit(large, '/webhooks/payment', from('192.0.2.8'))).toBeNull();
  expect(admission.admit(small, '/api/login', from('192.0.2.1'))).not.toBeNull();
});

it('in a class the clients alternate, so that the requests of one do not wait for all those of another', async () => {
  const admission = createAdmission();
  const started: string[] = [];
  const last = Promise.withResolvers<void>();
  const start = (client: string) => {
    const place = admission.admit(get, '/login', from(client));
    place?.start(
      () => {
        started.push(client);
        if (started.length === 104) last.resolve();
      },
      () => {},
    );
  };
  for (let request = 0; request < 100; request++) start('192.0.2.1');
  for (let request = 0; request < 2; request++) start('192.0.2.2');
  for (let request = 0; request < 2; request++) start('192.0.2.3');
  await last.promise;
  expect(started.slice(0, 7).map((client) => client.at(-1))).toEqual(['1', '2', '3', '1', '2', '3', '1']);
});

it('each request that is refused is counted by its class, and ends no other', () => {
  const refused: string[] = [];
  const admission = createAdmission((kind) => refused.push(kind));
  expect(admitted(admission, unread, '/api/session', '192.0.2.1')).toHaveLength(100 + 75);
  expect(refused).toEqual(Array(2825).fill('reads'));
});

it('a scrape of the metrics is served while reads with invented sessions take all their places', () => {
  const admission = createAdmission();
  admitted(admission, unread, '/api/session', '192.0.2.1');
  const scrape = { method: 'GET', headers: { authorization: 'Bearer x' } } as IncomingMessage;
  expect(admission.admit(scrape, '/metrics', from('192.0.2.1'))).not.toBeNull();
});

it('invented sessions leave places for those that were valid recently, and those for others', () => {
  const admission = createAdmission();
  expect(admitted(admission, shared, '/api/session', '192.0.2.1')).toHaveLength(225);
  expect(admitted(admission, unread, '/api/session', '192.0.2.1')).toHaveLength(75);
  expect(admission.admit(unread, '/api/session', from('192.0.2.2'))).not.toBeNull();

  const other = createAdmission();
  expect(admitted(other, unread, '/api/session', '192.0.2.1')).toHaveLength(100 + 75);
  expect(admitted(other, shared, '/api/session', '192.0.2.2')).toHaveLength(150);
  expect(admitted(other, unread, '/api/changes', '192.0.2.1')).toHaveLength(1500 + 75);
  expect(admitted(other, signedIn, '/api/changes', '192.0.2.3')).toHaveLength(375);
});

it('of the clients of one address, which are its sessions and keys, the heaviest gives way', () => {
  const refused: string[] = [];
  const admission = createAdmission();
  const start = (request: IncomingMessage, name: string) =>
    admission.admit(request, '/api/session', from('192.0.2.1'))?.start(
      () => {},
      () => refused.push(name),
    );
  for (let request = 0; request < 225; request++) start(signedIn, 'flood');
  const colleague = { method: 'GET', headers: { cookie: 'a=b; __Host-session=another x' } } as IncomingMessage;
  for (let request = 0; request < 3; request++) start(colleague, 'colleague');
  expect(refused).toEqual(['flood', 'flood', 'flood']);
});

it('a client that leaves before its turns leaves nothing behind', async () => {
  const admission = createAdmission();
  const immediates = () => process.getActiveResourcesInfo().filter((name) => name === 'Immediate').length;
  const before = immediates();
  for (let request = 0; request < 100_000; request++) {
    const place = admission.admit(get, '/login', from(`192.0.2.${request % 200}`));
    place?.start(
      () => expect.unreachable(),
      () => {},
    );
    place?.abandon();
  }
  expect(immediates() - before).toBeLessThan(5);
});

it('a request whose client has disconnected counts until its work has ended', async () => {
  const admission = createAdmission();
  const work = Promise.withResolvers<void>();
  const open = admitted(admission, post, '/api/login', '192.0.2.1');
  const started = open.map(
    (place) =>
      new Promise<void>((resolve) => {
        const run = () => {
          resolve();
          return work.promise;
        };
        place.start(run, () => {});
      }),
  );
  await Promise.all(started);
  for (const place of open) place.abandon();
  expect(admission.admit(post, '/api/login', from('192.0.2.1'))).toBeNull();
  work.resolve();
  await expect.poll(() => admission.admit(post, '/api/login', from('192.0.2.1'))).not.toBeNull();
});

/** A request that announces so many bytes, and the end of which does not come. */
function unsent(length: number) {
  const sent = { complete: false, readableLength: 0, readableHighWaterMark: 1, destroy: vi.fn() };
  return { ...sent, method: 'POST', headers: { 'content-length': String(length) } } as unknown as IncomingMessage;
}

/** Admits a request, and resolves once it has started. Resolves to false if it was refused. */
function started(admission: ReturnType<typeof createAdmission>, request: IncomingMessage, client: string) {
  const place = admission.admit(request, '/webhooks/payment', from(client));
  return new Promise<boolean>((resolve) => {
    if (place === null) return resolve(false);
    place.start(
      () => resolve(true),
      () => resolve(false),
    );
  });
}

const megabyte = 1024 * 1024;

it.each([
  [
    'bytes',
    [...Array(31).fill(megabyte), ...Array.from({ length: 20 }, (_, halvings) => megabyte / 2 ** (halvings + 1))],
  ],
  ['places', Array(300).fill(1)],
])('slow bodies of many networks that take all %s of a class give way to the events of another', async (_, lengths) => {
  const admission = createAdmission();
  for (const [at, length] of lengths.entries()) {
    expect(await started(admission, unsent(length), `198.51.${at >> 8}.${at & 255}`)).toBe(true);
  }

  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1_001);
  const events: boolean[] = [];
  for (let at = 0; at < 20; at++) events.push(await started(admission, unsent(5_000), '203.0.113.1'));
  clock.mockRestore();
  expect(events).toEqual(Array(20).fill(true));
});

it('a network with many places ends no slow body of one with fewer', async () => {
  const admission = createAdmission();
  const slow = unsent(1);
  await started(admission, slow, '198.51.100.1');
  for (let client = 1; client <= 9; client++) {
    for (let at = 0; at < 300; at++) await started(admission, unsent(0), `203.0.113.${client}`);
  }
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1_001);
  expect(await started(admission, unsent(0), '203.0.113.1')).toBe(false);
  clock.mockRestore();
  expect(slow.destroy).not.toHaveBeenCalled();
});
