import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { secondsToWait } from '../../testing/attempts.ts';
import { makeMember, ownedBy } from '../../testing/billing.ts';
import { addMember, callerFor } from '../../testing/factories.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ environment: { RATE_LIMITS: 'on' }, work: false });
});
afterAll(() => running.close());

test.each([
  ['billing-user', 96],
  ['billing-organisation', 196],
] as const)('the four actions share the limit %s, and above it none asks the provider', async (rule, taken) => {
  const [principal, stranger] = [await makeMember(running), await makeMember(running)];
  const { billing } = callerFor(running, principal);
  const key = { 'billing-user': principal.user.id, 'billing-organisation': principal.organisationId }[rule];
  await Promise.all(Array.from({ length: taken }, () => running.app.throttle.take({ [rule]: key })));
  const actions = [() => billing.checkout({ tier: 'silver' }), billing.portal, billing.cancel, billing.resume];
  for (const act of actions) expect(await secondsToWait(act())).toBeNull();

  const before = ownedBy(running, principal).sessions.length;
  for (const act of actions) expect(await secondsToWait(act())).toBeGreaterThan(0);
  expect(ownedBy(running, principal).sessions.length).toBe(before);

  const colleague = await addMember(running, principal.organisationId, 'admin');
  const answered = await secondsToWait(callerFor(running, colleague.principal).billing.portal());
  expect(answered === null).toBe(rule === 'billing-user');
  await callerFor(running, stranger).billing.portal();
});
