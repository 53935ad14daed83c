import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { createGatehouse, type Options } from './client.ts';
import { sessionCookies } from './cookies.ts';
import { GatehouseError } from './error.ts';

type Respond = (request: IncomingMessage, response: ServerResponse, count: number) => void;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Creates a client of a server whose answers the test chooses, to test network failures. */
async function clientOf(respond: Respond, options: Partial<Options> = {}) {
  const requested: string[] = [];
  const server = createServer((request, response) => {
    requested.push(`${request.method} ${request.url}`);
    respond(request, response, requested.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gatehouse = createGatehouse({ url, apiKey: 'key', cache: false, ...options });
  ends.push(() => gatehouse.close());
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { gatehouse, requested };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const busy = { error: 'Busy.', code: 'BUSY' };
const used = { meter: 'api_calls', used: 1, limit: 10, resets_at: null };

it('repeats a reservation with the same idempotency key until it is answered', async () => {
  const bodies: string[] = [];
  const { gatehouse } = await clientOf((request, response, count) => {
    request.on('data', (part) => bodies.push(String(part)));
    request.on('end', () => {
      if (count === 1) request.socket.destroy();
      else if (count === 2) json(response, 503, busy);
      else json(response, 200, used);
    });
  });
  expect(await gatehouse.usage.reserve({ organisation: 'o', meter: 'api_calls' })).toEqual(used);
  expect(bodies).toHaveLength(3);
  expect(new Set(bodies).size).toBe(1);
});

it('sets a gauge again only with a time, because an older value could overwrite a newer one', async () => {
  const { gatehouse, requested } = await clientOf((_, response) => json(response, 503, busy), { retries: 1 });
  await expect(gatehouse.usage.set({ organisation: 'o', meter: 'm', used: 1 })).rejects.toMatchObject({ code: 'BUSY' });
  expect(requested).toHaveLength(1);
  await expect(gatehouse.usage.set({ organisation: 'o', meter: 'm', used: 1, at: new Date() })).rejects.toThrow();
  expect(requested).toHaveLength(3);
});

it('does not repeat a request that was refused', async () => {
  const { gatehouse, requested } = await clientOf((_, response) =>
    json(response, 403, { error: 'No.', code: 'FORBIDDEN' }),
  );
  await expect(gatehouse.organisations.list()).rejects.toMatchObject({ status: 403, code: 'FORBIDDEN' });
  expect(requested).toHaveLength(1);
});

it('ends a request that is not answered in time, and one that is aborted', async () => {
  const { gatehouse } = await clientOf(() => {}, { timeoutMilliseconds: 50, retries: 0 });
  await expect(gatehouse.organisations.list()).rejects.toMatchObject({ status: 0, code: 'TIMEOUT' });
  const reason = new Error('No longer needed.');
  await expect(gatehouse.organisations.list({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

it('sends nothing for an id that would make another path of it', async () => {
  const { gatehouse, requested } = await clientOf((_, response) => json(response, 200, { ok: true }));
  const nothing = { status: 404, code: 'NOT_FOUND' };
  for (const id of ['', '.', '..']) {
    await expect(gatehouse.invitations.delete('acme', id)).rejects.toMatchObject(nothing);
    await expect(gatehouse.members.remove('acme', id)).rejects.toMatchObject(nothing);
    await expect(gatehouse.overrides.end(id)).rejects.toMatchObject(nothing);
    await expect(gatehouse.users.get(id)).rejects.toMatchObject(nothing);
  }
  expect(requested).toEqual([]);
  await gatehouse.invitations.delete('acme', '%2e%2e');
  expect(requested).toEqual(['DELETE /api/organisations/acme/invitations/%252e%252e']);
});

it('takes an empty cursor for none, so that it reports that the feed begins', async () => {
  const { gatehouse } = await clientOf((request, response) => {
    if (!request.url?.includes('after=')) json(response, 200, { changes: [], next: 'c1' });
  });
  const calls: string[] = [];
  const onReset = () => void calls.push('reset');
  const following = gatehouse.changes.follow({ after: '', onChange: () => {}, onReset });
  await vi.waitFor(() => expect(calls).toEqual(['reset']), 30_000);
  await following.close();
});

it('pauses after a node that ends answers at once', async () => {
  const { gatehouse, requested } = await clientOf((_, response) => json(response, 200, { changes: [], next: 'c1' }));
  const following = gatehouse.changes.follow({ after: 'c1', onChange: () => {} });
  await vi.waitFor(() => expect(requested.length).toBeGreaterThan(1), 30_000);
  await following.close();
  expect(requested.length).toBeLessThan(4);
});

it.each([
  [410, 'GONE'],
  [400, 'VALIDATION'],
])('follows changes from the start again after %i %s, and reports that changes were missed', async (status, code) => {
  const change = { cursor: 'c2', at: '', type: 'plan.changed', organisation: 'o', user: null, data: {} };
  const { gatehouse, requested } = await clientOf((request, response, count) => {
    if (request.url?.includes('after=old')) json(response, status, { error: 'Refused.', code });
    else if (request.url?.includes('after=c1')) json(response, 200, { changes: [change], next: 'c2' });
    else if (count === 2) json(response, 200, { changes: [], next: 'c1' });
  });
  const calls: string[] = [];
  const following = gatehouse.changes.follow({
    after: 'old',
    onChange: ({ cursor }) => void calls.push(cursor),
    onReset: () => void calls.push('reset'),
  });
  await vi.waitFor(() => expect(calls).toEqual(['reset', 'c2']), 30_000);
  await following.close();
  expect(requested[1]).toBe('GET /api/changes?wait=0');
});

it.each(['VALIDATION', 'GONE'])(
  'delivers a change again whose own call threw %s, and does not take the cursor for refused',
  async (code) => {
    const change = { cursor: 'c2', at: '', type: 'plan.changed', organisation: 'o', user: null, data: {} };
    const { gatehouse } = await clientOf((request, response) => {
      const isNew = request.url?.includes('after=c1');
      if (isNew) json(response, 200, { changes: [change], next: 'c2' });
    });
    const calls: unknown[] = [];
    const thrown = new GatehouseError(400, code, 'There is no such meter.');
    const following = gatehouse.changes.follow({
      after: 'c1',
      onChange: ({ cursor }) => {
        calls.push(cursor);
        if (calls.length === 1) throw thrown;
      },
      onReset: () => void calls.push('reset'),
      onError: (error) => void calls.push(error),
    });
    await vi.waitFor(() => expect(calls).toHaveLength(3), 30_000);
    await following.close();
    expect(calls).toEqual(['c2', thrown, 'c2']);
  },
);

it('returns a stale entitlement at once while one request renews it', async () => {
  let allowed = true;
  const cache = { freshMilliseconds: 20, staleMilliseconds: 60_000, follow: false };
  const { gatehouse, requested } = await clientOf((_, response) => json(response, 200, { name: 'sso', allowed }), {
    cache,
  });
  const check = async () => (await gatehouse.entitlements.check('o', 'sso')).allowed;
  expect(await Promise.all([check(), check(), check()])).toEqual([true, true, true]);
  expect(requested).toHaveLength(1);
  allowed = false;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(await Promise.all([check(), check()])).toEqual([true, true]);
  await vi.waitFor(async () => expect(await check()).toBe(false), 30_000);
});

it.each([401, 403, 404])('returns no stale entitlement after a renewal was refused with %i', async (status) => {
  let refused = false;
  const cache = { freshMilliseconds: 20, staleMilliseconds: 60_000, follow: false };
  const { gatehouse, requested } = await clientOf(
    (_, response) => json(response, refused ? status : 200, { name: 'sso', allowed: true, error: 'No.', code: 'NO' }),
    { cache },
  );
  const check = () => gatehouse.entitlements.check('o', 'sso');
  await check();
  refused = true;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(await check()).toMatchObject({ allowed: true });
  await vi.waitFor(() => expect(requested).toHaveLength(2), 30_000);
  await vi.waitFor(() => expect(check()).rejects.toMatchObject({ status }), 30_000);
});

it('returns the last entitlement while Gatehouse does not answer', async () => {
  let busyNow = false;
  const cache = { freshMilliseconds: 20, staleMilliseconds: 60_000, follow: false };
  const { gatehouse, requested } = await clientOf(
    (_, response) => (busyNow ? json(response, 503, busy) : json(response, 200, { name: 'sso', allowed: true })),
    { cache, retries: 0 },
  );
  const check = () => gatehouse.entitlements.check('o', 'sso');
  await check();
  busyNow = true;
  await new Promise((resolve) => setTimeout(resolve, 30));
  for (let count = 2; count < 5; count++) {
    // A check while the answer to an earlier one is on its way asks for none.
    await vi.waitFor(async () => {
      expect(await check()).toMatchObject({ allowed: true });
      expect(requested.length).toBeGreaterThanOrEqual(count);
    }, 30_000);
  }
});

it('waits three seconds in all, however many attempts it makes', async () => {
  const { gatehouse, requested } = await clientOf((_, response, count) => {
    if (count === 1) response.destroy();
  });
  const began = performance.now();
  await expect(gatehouse.organisations.list()).rejects.toMatchObject({ status: 0, code: 'TIMEOUT' });
  expect(performance.now() - began).toBeGreaterThan(2_900);
  // Two attempts of three seconds each would take six.
  expect(performance.now() - began).toBeLessThan(5_900);
  expect(requested).toHaveLength(2);
});

it('does not wait for a Retry-After beyond the time of the call', async () => {
  const { gatehouse, requested } = await clientOf((_, response) => {
    response.setHeader('retry-after', '60');
    json(response, 503, busy);
  });
  const began = performance.now();
  await expect(gatehouse.organisations.list()).rejects.toMatchObject({ status: 503, retryAfterSeconds: 60 });
  expect(performance.now() - began).toBeLessThan(30_000);
  expect(requested).toHaveLength(1);
});

const entitlements = {
  organisation: { id: 'o', slug: 'o', name: null, approval: 'approved' },
  plan: { tier: 'free', name: 'Free', status: 'none', ends_at: null },
  features: { sso: true, audit: false },
  usage: [{ meter: 'api_calls', name: 'API calls', used: 9, limit: 10, resets_at: null }],
};

/** Creates a client of a server that answers entitlements and reservations, until it is told to be away. */
async function clientOfEntitlements(options: Partial<Options> = {}) {
  const state = { away: false, reserve: 200 };
  const { gatehouse, requested } = await clientOf(
    ({ url = '' }, response) => {
      if (state.away) response.destroy();
      else if (url === '/api/usage/reserve')
        json(response, state.reserve, state.reserve === 200 ? used : { error: 'Enough.', code: 'LIMIT_REACHED' });
      else if (url.endsWith('/entitlements')) json(response, 200, entitlements);
      else json(response, 200, { name: url.split('/').at(-1), allowed: false, allowed_by: ['gold'] });
    },
    { cache: { follow: false }, retries: 0, ...options },
  );
  return { gatehouse, requested, state };
}

it('checks by all entitlements what they allow, and asks for the tiers of what they do not', async () => {
  const { gatehouse, requested } = await clientOfEntitlements();
  await gatehouse.entitlements.get('o');
  expect(await gatehouse.entitlements.check('o', 'sso')).toEqual({ name: 'sso', allowed: true, allowed_by: null });
  expect(await gatehouse.entitlements.check('o', 'api_calls')).toEqual({
    name: 'api_calls',
    allowed: true,
    used: 9,
    limit: 10,
    resets_at: null,
    allowed_by: null,
  });
  expect(requested).toHaveLength(1);
  expect(await gatehouse.entitlements.check('o', 'audit')).toMatchObject({ allowed: false, allowed_by: ['gold'] });
  expect(requested).toHaveLength(2);
});

it('keeps the entitlements after a write that failed or was refused, and asks for them after one that counted', async () => {
  const { gatehouse, requested, state } = await clientOfEntitlements();
  const reserve = () => gatehouse.usage.reserve({ organisation: 'o', meter: 'api_calls' });
  await gatehouse.entitlements.get('o');

  state.away = true;
  await expect(reserve()).rejects.toMatchObject({ code: 'UNREACHABLE' });
  expect(await gatehouse.entitlements.get('o')).toEqual(entitlements);
  state.away = false;
  state.reserve = 403;
  await expect(reserve()).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
  expect(await gatehouse.entitlements.get('o')).toEqual(entitlements);

  state.reserve = 200;
  await reserve();
  await vi.waitFor(
    () => expect(requested.filter((each) => each.includes('entitlements')).length).toBeGreaterThan(1),
    30_000,
  );
  const before = requested.length;
  await gatehouse.entitlements.get('o');
  expect(requested.length).toBeGreaterThan(before);
});

it('answers outdated entitlements while Gatehouse is away only if it may, and never a reservation', async () => {
  for (const entitlementsMilliseconds of [undefined, 60_000]) {
    const failOpen = entitlementsMilliseconds === undefined ? {} : { failOpen: { entitlementsMilliseconds } };
    const { gatehouse, state } = await clientOfEntitlements(failOpen);
    await gatehouse.entitlements.get('o');
    await gatehouse.usage.reserve({ organisation: 'o', meter: 'api_calls' });
    state.away = true;

    const [get, check] = [() => gatehouse.entitlements.get('o'), () => gatehouse.entitlements.check('o', 'audit')];
    if (entitlementsMilliseconds === undefined) {
      await expect(get()).rejects.toMatchObject({ code: 'UNREACHABLE' });
      await expect(check()).rejects.toMatchObject({ code: 'UNREACHABLE' });
    } else {
      expect(await get()).toEqual(entitlements);
      expect(await check()).toEqual({ name: 'audit', allowed: false, allowed_by: null });
    }
    await expect(gatehouse.usage.reserve({ organisation: 'o', meter: 'api_calls' })).rejects.toMatchObject({
      code: 'UNREACHABLE',
    });
  }
});

it('answers stale entitlements for as long as configured, and not beyond', async () => {
  const { gatehouse, state } = await clientOfEntitlements({
    cache: { follow: false, freshMilliseconds: 10, staleMilliseconds: 20 },
    failOpen: { entitlementsMilliseconds: 60_000 },
  });
  await gatehouse.entitlements.get('o');
  state.away = true;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await gatehouse.entitlements.get('o')).toEqual(entitlements);

  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now + 61_000);
  await expect(gatehouse.entitlements.get('o')).rejects.toMatchObject({ code: 'UNREACHABLE' });
  vi.restoreAllMocks();
});

it('issues a token for the session of a request or for its key, and never the one in place of the other', async () => {
  const { gatehouse, requested } = await clientOf((_, response) => json(response, 200, { token: 't', expires_at: '' }));
  const absent = undefined as unknown as string;
  await expect(gatehouse.tokens.issueForSession(absent)).rejects.toThrow(TypeError);
  await expect(gatehouse.tokens.issueForSession({ headers: {} })).rejects.toMatchObject({ status: 401 });
  expect(requested).toEqual([]);
  await gatehouse.tokens.issueForSession('session=x');
  await gatehouse.tokens.issueForKey({ audience: 'orders' });
  expect(requested).toHaveLength(2);
});

it('ends only the read whose signal is aborted, not the others that share its request', async () => {
  const { gatehouse, requested } = await clientOf(
    (_, response) => void setTimeout(() => json(response, 200, { name: 'sso', allowed: true }), 100),
    { cache: { follow: false } },
  );
  const controller = new AbortController();
  const aborted = gatehouse.entitlements.check('o', 'sso', { signal: controller.signal });
  const other = gatehouse.entitlements.check('o', 'sso');
  const reason = new Error('No longer needed.');
  controller.abort(reason);
  await expect(aborted).rejects.toBe(reason);
  expect(await other).toMatchObject({ allowed: true });
  expect(requested).toHaveLength(1);
});

it('forwards only the cookies of a session', () => {
  expect(sessionCookies('a=1; __Host-session=x; session=y; __Secure-gatehouse=z')).toBe(
    '__Host-session=x; __Secure-gatehouse=z',
  );
  expect(sessionCookies({ headers: { cookie: 'session=y; a=1' } })).toBe('session=y');
  expect(sessionCookies(new Request('http://x', { headers: { cookie: 'mysession=1' } }))).toBe('');
});
