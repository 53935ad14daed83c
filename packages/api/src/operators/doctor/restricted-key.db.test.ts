import { expect, test } from 'vitest';
import { setUpBilling } from '../../billing/actions/set-up-billing.ts';
import { applyUndelivered } from '../../billing/events/apply-undelivered.ts';
import { reconcileAll } from '../../billing/sync/reconcile.ts';
import { createPayment } from '../../platform/providers/payment/connection.ts';
import { permissions } from '../../platform/providers/payment/permissions.ts';
import { makeMember, ownedBy, priceOf } from '../../testing/billing.ts';
import { callerFor } from '../../testing/factories.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { runChecks } from './doctor.ts';

const billing = useBillingTest({
  environment: { PAYMENT_DISPUTES: 'end', PAYMENT_TAX: 'automatic', PUBLIC_BASE_URL: 'http://localhost:3999' },
});
const provider = () => billing.sandbox.payment;

type Level = 'read' | 'write';

/** The permissions of docs/payment.md, as the sandbox names them. */
const all = permissions.map(
  ({ resource, level }) => `${resource.toLowerCase().replaceAll(' ', '_')}:${level.toLowerCase() as Level}` as const,
);

/** Gives the service a restricted key. */
function useKey(permitted: typeof all) {
  const key = provider().restrictKey(permitted);
  billing.app.payment = createPayment({ secretKey: key.secretKey, apiUrl: provider().apiUrl });
  return key;
}

test('a key with the permissions of docs/payment.md does all that billing does, and every one of them is used', async () => {
  const key = useKey(all);
  await setUpBilling(billing.app);
  const principal = await makeMember(billing);
  const pages = callerFor(billing, principal);
  provider().payCheckout((await pages.billing.checkout({ tier: 'silver' })).url);
  await billing.settled();
  const [subscription] = ownedBy(billing, principal).subscriptions;
  const { id = '', customer = '' } = subscription ?? {};
  expect(await pages.subscription.read()).toMatchObject({ plan: { tier: 'silver', status: 'active' } });
  expect(await pages.billing.invoices()).toMatchObject({ method: { name: 'visa 4242' }, is_current: true });

  await pages.billing.portal({});
  await pages.billing.cancel({});
  await pages.billing.resume({});
  provider().scheduleChange(id, priceOf(billing, 'gold'));
  await billing.settled();
  await pages.billing.resume({});
  expect(ownedBy(billing, principal).subscriptions[0]?.schedule).toBeNull();
  await pages.billing.checkout({ tier: 'gold' });

  provider().setCard(String(customer), '4000000000000341');
  provider().clock.advanceToPeriodEnd(id);
  await billing.settled();
  const portal = (await pages.billing.portal({})).url;
  provider().portal(portal).changeCard('4242424242424242');
  await billing.settled();
  expect(await pages.subscription.read()).toMatchObject({ plan: { tier: 'silver', status: 'active' } });

  const paid = ownedBy(billing, principal).invoices.find(({ status }) => status === 'paid');
  const dispute = provider().dispute(paid?.id ?? '');
  await billing.settled();
  expect(await pages.subscription.read()).toMatchObject({ plan: { tier: 'free' } });
  provider().closeDispute(dispute.id, 'won');
  await billing.settled();
  await applyUndelivered(billing.app);
  await reconcileAll(billing.app);

  // Before doctor asks for each of them. The sandbox has products, prices, no discount and no tax to begin with, and an
  // endpoint on loopback is not made.
  const used = key.used();
  const idle = all.filter((permission) => !used.includes(permission));
  expect(idle).toEqual([
    'coupons:read',
    'products:read',
    'products:write',
    'prices:write',
    'tax_settings_and_registrations:read',
    'webhook_endpoints:write',
    'event_destinations:read',
  ]);
  const { report } = await runChecks(billing.app);
  expect(report).toContain('Payment key: This restricted key has the permissions that billing needs.');
});

test.each(permissions)('doctor says that $resource ($level) is missing', async ({ resource, level, only }) => {
  const lacked = `${resource.toLowerCase().replaceAll(' ', '_')}:${level.toLowerCase() as Level}` as const;
  const reading = lacked.replace(/:write$/, ':read') as typeof lacked;
  const others = all.filter((permission) => permission !== lacked && permission !== lacked.replace(/:read$/, ':write'));
  useKey(level === 'Write' ? [...others, reading] : others);
  const { report, sound } = await runChecks(billing.app);
  const line = report
    .split('\n')
    .find((each) => each.includes('Payment key:') && each.includes(`${resource} (${level})`));
  const isNeeded = only === undefined || only === 'disputes' || only === 'tax';
  expect(line).toMatch(isNeeded ? /^WRONG/ : /lacks permissions/);
  if (isNeeded) expect(sound).toBe(false);
  if (only === 'doctor')
    expect(report).toMatch(/^note {2,}Webhook payloads: The event destinations could not be looked up/m);
});

test('a key that may do everything is not asked what it may do', async () => {
  billing.app.payment = createPayment({ secretKey: provider().secretKey, apiUrl: provider().apiUrl });
  expect((await runChecks(billing.app)).report).not.toContain('Payment key');
});
