import type { Principal } from '@gatehouse/api/auth/principal';
import { type BillingTest, makeSubscriber, startBillingTest } from '@gatehouse/api/testing/billing';
import { callerFor } from '@gatehouse/api/testing/factories';
import type { Action } from '@sveltejs/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actions } from './+page.server.ts';

let billing: BillingTest;
let administrator: Principal;
beforeAll(async () => {
  billing = await startBillingTest();
  administrator = (await makeSubscriber(billing)).principal;
});
afterAll(() => billing.close());

/** Posts a form of /billing. Returns the redirect that it throws, or the failure that it returns. */
async function post(name: keyof typeof actions, fields: Record<string, string>): Promise<unknown> {
  const url = new URL('/billing', 'http://localhost:3999');
  const request = new Request(url, { method: 'POST', body: new URLSearchParams(fields) });
  const locals = {
    app: billing.app,
    principal: administrator,
    requestId: 'test',
    api: callerFor(billing, administrator),
    body: Buffer.from(String(new URLSearchParams(fields))),
  };
  const cookies = { get: () => undefined, set: () => {}, delete: () => {} };
  const event = { url, request, locals, cookies, setHeaders: () => {} } as unknown as Parameters<Action>[0];
  return Promise.resolve((actions[name] as Action)(event)).catch((thrown: unknown) => thrown);
}

test.each(['checkout', 'portal', 'cancel', 'resume'] as const)(
  'the form %s needs no organisation, as its JSON endpoint',
  async (name) => {
    expect(await post(name, { tier: 'gold' })).toMatchObject({ status: 303, location: expect.any(String) });
  },
);

test.each(['checkout', 'portal', 'cancel', 'resume'] as const)(
  'the form %s of another organisation’s page changes nothing',
  async (name) => {
    for (const organisation_id of ['', '0192a5f0-0000-7000-8000-000000000000']) {
      expect(await post(name, { tier: 'gold', organisation_id })).toMatchObject({ status: 404 });
    }
  },
);
