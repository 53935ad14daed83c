import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../app.ts';
import type { Principal } from '../auth/principal.ts';
import { AppError } from '../platform/errors.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeMember, makeSubscriber, ownedBy, startBillingTest } from '../testing/billing.ts';
import { callerFor } from '../testing/factories.ts';
import { principalOf } from '../testing/principal.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ work: false });
});
afterAll(() => running.close());

const unread = new AppError('VALIDATION', 'The body is not valid JSON.');
const actions = ['checkout', 'currency', 'portal', 'cancel', 'resume'] as const;

function appErrorOf(app: App, principal: Principal | null, action: (typeof actions)[number], input: unknown) {
  const api = callerFor({ ...running, app }, principal);
  const call = api.billing[action] as (input: unknown) => Promise<unknown>;
  return call(input).then(
    () => 'answered',
    (error: { cause?: { code?: string } }) => error.cause?.code,
  );
}

/** The first failed check decides the error, whatever else is wrong (interface §4). */
describe.each(actions)('%s rejects in this order', (action) => {
  const off = () => ({ ...running.app, payment: null });

  test('no session, then an account that awaits approval, then a role without ADMIN', async () => {
    const { user, organisation, role, sessionId } = await makeMember(running);
    const waiting = principalOf({ user, organisation, role, sessionId, accountStatus: 'awaiting_approval' });
    expect(await appErrorOf(off(), null, action, unread)).toBe('UNAUTHENTICATED');
    expect(await appErrorOf(off(), waiting, action, unread)).toBe('AWAITING_APPROVAL');
    for (const poor of ['viewer', 'member'] as const) {
      expect(await appErrorOf(off(), await makeMember(running, poor), action, unread)).toBe('FORBIDDEN');
    }
  });

  test('then billing that is off, then a body that cannot be read, then no organisation', async () => {
    const { user, sessionId } = await makeMember(running);
    const alone = principalOf({ user, organisation: null, role: 'owner', sessionId, accountStatus: 'active' });
    expect(await appErrorOf(off(), alone, action, unread)).toBe('BILLING_UNAVAILABLE');
    expect(await appErrorOf(running.app, alone, action, unread)).toBe('VALIDATION');
    if (action === 'checkout')
      expect(await appErrorOf(running.app, alone, action, { tier: 'free' })).toBe('VALIDATION');
    expect(await appErrorOf(running.app, alone, action, { tier: ' gold ', currency: ' GBP ' })).toBe('NO_ORGANISATION');
  });
});

test.each([undefined, null, [], 'silver', 7, {}, { tier: 7 }, { tier: ['silver'] }])(
  'a checkout of %j asks for a paid tier',
  async (input) => {
    const api = callerFor(running, await makeMember(running));
    await expect(api.billing.checkout(input as never)).rejects.toThrow('Choose the Silver or Gold plan.');
  },
);

describe('an action from a page of another organisation', () => {
  const stale = { code: 'NOT_FOUND', message: 'You switched organisation in another tab. Reload the page.' };

  test.each(actions)('%s is rejected, and nothing changes at the provider', async (action) => {
    const billing = await startBillingTest();
    try {
      const shown = await makeMember(billing);
      const { principal, subscription } = await makeSubscriber(billing);
      const before = structuredClone(ownedBy(billing, principal));
      const call = callerFor(billing, principal).billing[action] as (input: unknown) => Promise<unknown>;

      const input = { tier: 'gold', currency: 'gbp', organisation_id: shown.organisationId };
      await expect(call(input)).rejects.toMatchObject({ cause: stale });
      expect(ownedBy(billing, principal)).toEqual(before);
      expect(ownedBy(billing, shown).customers).toEqual([]);

      await call({ tier: 'gold', currency: 'gbp', organisation_id: principal.organisationId });
      expect(subscription.status).toBe('active');
    } finally {
      await billing.close();
    }
  });

  test.each([null, '', 7, {}, 'not an id', '\u0000'])('an organisation named %j is not found', async (id) => {
    const principal = await makeMember(running);
    for (const action of actions) {
      expect(
        await appErrorOf(running.app, principal, action, { tier: 'gold', currency: 'gbp', organisation_id: id }),
      ).toBe('NOT_FOUND');
    }
  });

  test('a tier that cannot be bought is rejected before the organisation is checked', async () => {
    const other = await makeMember(running);
    const input = { tier: 'free', organisation_id: other.organisationId };
    expect(await appErrorOf(running.app, await makeMember(running), 'checkout', input)).toBe('VALIDATION');
  });
});
