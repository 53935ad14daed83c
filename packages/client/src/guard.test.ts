import { expect, it, vi } from 'vitest';
import type { Session } from './answers.ts';
import { GatehouseError } from './error.ts';
import { type GuardHooks, guardNode, guardRequest, type Verifier } from './guard.ts';

const session: Session = {
  user: { id: 'u', email: 'owner@company.example', name: null },
  organisation: { id: 'o', slug: 'o', name: null, tier: 'free' },
  role: 'viewer',
  scopes: ['READ'],
};

/** A client that is reached by an internal address, whose verification answers or throws this. */
function verifierOf(answer: Session | null | GatehouseError): Verifier {
  return {
    publicUrl: 'https://id.company.example',
    sessions: {
      verify: async () => {
        if (answer instanceof GatehouseError) throw answer;
        return answer;
      },
    },
  };
}

const refused = (status: number, code: string) => new GatehouseError(status, code, 'A sentence.');
const origin = 'https://app.company.example';

const cases: [
  kind: keyof GuardHooks,
  answer: Session | null | GatehouseError,
  status: number,
  location: string | null,
][] = [
  ['signedOut', null, 401, 'https://id.company.example/login?return_to=https%3A%2F%2Fapp.company.example%2Fx%3Fa%3D1'],
  ['awaitingApproval', refused(403, 'AWAITING_APPROVAL'), 403, 'https://id.company.example/awaiting-approval'],
  ['factorSetup', refused(403, 'SECOND_FACTOR_SETUP'), 403, 'https://id.company.example/account/security/required'],
  ['noAccess', refused(403, 'FORBIDDEN'), 403, null],
  ['noAccess', { ...session, scopes: [] }, 403, null],
  ['unavailable', refused(503, 'BUSY'), 503, null],
  ['unavailable', new GatehouseError(0, 'TIMEOUT', 'Gatehouse did not answer in time.'), 503, null],
  ['unavailable', new GatehouseError(500, 'INTERNAL', 'Something went wrong.'), 503, null],
];

const browser = { accept: 'text/html,application/xhtml+xml' };
const requestOf = (headers: Record<string, string>, method = 'GET') =>
  new Request('http://127.0.0.1:8080/x?a=1', { method, headers });

it.each(cases)(
  '%s: a browser gets a redirect to the public URL or a page, a program JSON',
  async (_, answer, status, location) => {
    const page = (await guardRequest(verifierOf(answer), requestOf(browser), { origin })) as Response;
    expect(page.headers.get('location')).toBe(location);
    expect(page.status).toBe(location === null ? status : 302);
    if (location === null) {
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(await page.text()).toMatch(/<h1>(No access|One moment, please)<\/h1>/);
    }

    for (const request of [requestOf({}), requestOf(browser, 'POST')]) {
      const json = (await guardRequest(verifierOf(answer), request, { origin })) as Response;
      expect(json.status).toBe(status);
      expect(await json.json()).toEqual({ error: expect.any(String), code: expect.any(String) });
      expect(json.headers.get('retry-after')).toBe(status === 503 ? '5' : null);
    }
  },
);

it.each(cases)('%s: a hook answers in the product’s way, for Fetch and for Node', async (kind, answer, status) => {
  const hook = vi.fn(() => ({ status: 418, headers: { 'x-own': 'yes' }, body: 'own page' }));
  const options = { origin, hooks: { [kind]: hook } };
  const answered = (await guardRequest(verifierOf(answer), requestOf(browser), options)) as Response;
  expect([answered.status, answered.headers.get('x-own'), await answered.text()]).toEqual([418, 'yes', 'own page']);
  expect(hook).toHaveBeenCalledWith(expect.objectContaining({ kind, status, isPage: true }));

  const response = { writeHead: vi.fn(), end: vi.fn() };
  const request = { method: 'GET', url: '/x?a=1', headers: browser };
  expect(await guardNode(verifierOf(answer), request, response, options)).toBeNull();
  expect(response.writeHead).toHaveBeenCalledWith(418, { 'x-own': 'yes' });
  expect(response.end).toHaveBeenCalledWith('own page');
});

it('a hook that returns nothing leaves the answer to the guard, and a session passes', async () => {
  const left = (await guardRequest(verifierOf(null), requestOf(browser), {
    origin,
    hooks: { signedOut: () => undefined },
  })) as Response;
  expect(left.status).toBe(302);
  expect(await guardRequest(verifierOf(session), requestOf(browser), { hooks: {} })).toBe(session);
});
