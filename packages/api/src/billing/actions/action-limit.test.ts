import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { secondsToWait } from '../../testing/attempts.ts';
import { makeMember, ownedBy } from '../../testing/billing.ts';
import { callerFor } from '../../testing/factories.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ environment: { RATE_LIMITS: 'on' }, work: false });
});
afterAll(() => running.close());

test('the four actions share the limit of an organisation, and above it none asks the provider', async () => {
  const [principal, other] = [await makeMember(running), await makeMember(running)];
  const { billing } = callerFor(running, principal);
  const { organisationId } = principal;
  await Promise.all(
    Array.from({ length: 196 }, () => running.app.throttle.take({ 'billing-organisation': organisationId })),
  );
  const actions = [() => billing.checkout({ tier: 'silver' }), billing.portal, billing.cancel, billing.resume];
  for (const act of actions) expect(await secondsToWait(act())).toBeNull();

  const before = ownedBy(running, principal).sessions.length;
  for (const act of actions) expect(await secondsToWait(act())).toBeGreaterThan(0);
  expect(ownedBy(running, principal).sessions.length).toBe(before);

  await callerFor(running, other).billing.portal();
});
