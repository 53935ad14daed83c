import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { paymentCheckouts } from '../../platform/db/schema/billing.ts';
import { makeIncomplete, makeSecond, makeSubscriber, ownedBy } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { reconcileAll } from '../sync/reconcile.ts';
import { closeCheckoutsIfPaid } from './checkouts.ts';
import { requirePayment } from './require-payment.ts';
import { startCheckout } from './start-checkout.ts';

const billing = useBillingTest({ emptiesProvider: true });
const provider = () => billing.sandbox.payment;

/** Creates an organisation whose plan has ended and that has an open checkout, with its card at the provider. */
async function makeBuyer() {
  const { principal, subscription } = await makeSubscriber(billing);
  await requirePayment(billing.app).ask((api) => api.subscriptions.cancel(subscription.id));
  await billing.settled();
  const { url } = await startCheckout(billing.app, principal, { tier: 'silver' });
  return { principal, url, customer: subscription.customer };
}

type Buyer = Awaited<ReturnType<typeof makeBuyer>>;

const openOf = ({ principal }: Buyer) => ownedBy(billing, principal).sessions.filter(({ status }) => status === 'open');

async function storedOpenOf({ principal }: Buyer) {
  const rows = await billing.app.db
    .select({ closedAt: paymentCheckouts.closedAt })
    .from(paymentCheckouts)
    .where(eq(paymentCheckouts.organisationId, principal.organisationId));
  return rows.filter(({ closedAt }) => closedAt === null);
}

const running = ({ principal }: Buyer) =>
  ownedBy(billing, principal).subscriptions.filter(({ status }) => status === 'active');

test('a subscription that starts at the provider during a checkout closes the checkout, so nothing is paid twice', async () => {
  const buyer = await makeBuyer();
  await makeSecond(billing, buyer.customer, 'gold');
  await billing.settled();
  expect(openOf(buyer)).toEqual([]);
  expect(await storedOpenOf(buyer)).toEqual([]);
  expect(running(buyer)).toHaveLength(1);
});

test('the provider’s answer closes the checkout if the events of the subscription are lost', async () => {
  const buyer = await makeBuyer();
  provider().set({ drop_deliveries: true });
  await makeSecond(billing, buyer.customer, 'gold');
  await reconcileAll(billing.app);
  await billing.settled();
  expect(openOf(buyer)).toEqual([]);
});

test('a checkout is closed once the provider answers again', async () => {
  const buyer = await makeBuyer();
  provider().set({ delivery_delay_ms: 100 });
  await makeSecond(billing, buyer.customer, 'gold');
  provider().set({ api_failure: 500 });
  await provider().deliveries.settled({ retries: true });
  const close = () => closeCheckoutsIfPaid(billing.app, buyer.principal.organisationId);
  await expect(close()).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
  expect(openOf(buyer)).toHaveLength(1);
  provider().resetSwitches();
  await close();
  await close();
  expect(openOf(buyer)).toEqual([]);
});

test('a checkout stays open while a subscription awaits its first payment, and after it was paid nothing is closed', async () => {
  const buyer = await makeBuyer();
  await makeIncomplete(billing, buyer.customer);
  await billing.settled();
  await closeCheckoutsIfPaid(billing.app, buyer.principal.organisationId);
  expect(openOf(buyer)).toHaveLength(1);
  provider().payCheckout(buyer.url);
  await billing.settled();
  expect(running(buyer)).toHaveLength(1);
});
