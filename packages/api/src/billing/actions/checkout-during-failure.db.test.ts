import { describe, expect, test } from 'vitest';
import type { Administrator } from '../../auth/principal.ts';
import { openDatabase } from '../../platform/db/client.ts';
import { startAwakeClock } from '../../testing/awake-clock.ts';
import { makeMember, makeSubscriber, ownedBy, withPatience } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { readSubscription } from '../summary/read-subscription.ts';
import { startCheckout } from './start-checkout.ts';

const billing = useBillingTest();
const choose = (principal: Administrator, tier: unknown) => startCheckout(billing.app, principal, { tier });
const buy = (principal: Administrator, tier = 'silver') => choose(principal, tier);
const provider = () => billing.sandbox.payment;
const plan = async (principal: Administrator) => (await readSubscription(billing.app, principal)).plan;

describe('a failing provider', () => {
  test.each(['close', 'hang', 500, 400] as const)(
    'that fails by %s gives a 502 within a bounded time and leaves no partial write',
    async (failure) => {
      const principal = await makeMember(billing);
      await buy(principal);
      provider().set({ api_failure: failure });
      const awake = startAwakeClock();
      await expect(buy(principal, 'gold')).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
      expect(awake()).toBeLessThan(25_000);

      provider().resetSwitches();
      expect((await buy(principal, 'gold')).url).toMatch(/^http/);
      expect(ownedBy(billing, principal).sessions.filter(({ status }) => status === 'open')).toHaveLength(1);
    },
  );

  test('holds no connection of the pool while it is slow', async () => {
    const principals = await Promise.all(Array.from({ length: 15 }, () => makeMember(billing)));
    const held = provider().holdRequests();
    const asked = principals.map((principal) => buy(principal));
    await expect.poll(held.count).toBe(15);
    // Of the pool's ten connections one is free.
    await billing.app.sql`select 1`;
    held.release();
    await Promise.all(asked);
  });
});

test('two server processes and fifty concurrent requests create one customer and one open session', async () => {
  const { app, close } = await secondProcess();
  try {
    const principal = await makeMember(billing);
    const clicks = Array.from({ length: 50 }, (_, at) =>
      startCheckout(withPatience(at % 2 === 0 ? app : billing.app), principal, { tier: 'silver' }),
    );
    expect(new Set((await Promise.all(clicks)).map(({ url }) => url)).size).toBe(1);
    expect(ownedBy(billing, principal).customers).toHaveLength(1);
    expect(ownedBy(billing, principal).sessions).toHaveLength(1);
  } finally {
    await close();
  }
});

/** Another process of the same deployment. */
async function secondProcess() {
  const { app } = billing;
  const { db, sql, close } = openDatabase({ url: app.config.databaseUrl ?? '', pool: 5, prepare: true });
  return { app: { ...app, db, sql }, close };
}

test('events are applied while an action waits for the provider', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const held = provider().holdRequests();
  const hanging = buy(principal, 'gold');
  await expect.poll(held.count).toBe(1);

  provider().forceStatus(subscription.id, 'past_due');
  await provider().deliveries.settled();
  expect((await plan(principal)).status).toBe('past_due');
  held.release();
  await hanging;
});
