import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { Administrator } from '../../auth/principal.ts';
import { paymentShownInvoices } from '../../platform/db/schema/billing.ts';
import { makeMember, makeSubscriber, ownedBy } from '../../testing/billing.ts';
import { callerFor } from '../../testing/factories.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { startCheckout } from '../actions/start-checkout.ts';
import { readInvoices } from './read-invoices.ts';

const billing = useBillingTest();

/** Lets the next read ask the provider again. */
async function passPause({ organisationId }: Pick<Administrator, 'organisationId'>) {
  await billing.app.db
    .update(paymentShownInvoices)
    .set({ askedAt: new Date(billing.app.now().getTime() - 6000) })
    .where(eq(paymentShownInvoices.organisationId, organisationId ?? ''));
}

test('an administrator sees the invoices, the next one and the card', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const [invoice] = ownedBy(billing, principal).invoices;
  expect(await readInvoices(billing.app, principal)).toEqual({
    invoices: [
      {
        id: invoice?.id,
        number: invoice?.number,
        at: new Date((invoice?.effective_at ?? 0) * 1000).toISOString(),
        amount: 2400,
        currency: 'gbp',
        state: 'paid',
        due: null,
        page: invoice?.hosted_invoice_url,
        pdf: `${invoice?.hosted_invoice_url}/pdf`,
      },
    ],
    next: {
      at: new Date((subscription.items.data[0]?.current_period_end ?? 0) * 1000).toISOString(),
      amount: 2400,
      currency: 'gbp',
      due: null,
    },
    method: { name: 'visa 4242', expires: expect.stringMatching(/^20\d\d-\d\d$/) },
    as_of: expect.any(String),
    is_current: true,
  });
});

test('the last twelve are shown, the newest first, and no draft', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  for (let month = 0; month < 14; month += 1) billing.sandbox.payment.clock.advanceToPeriodEnd(subscription.id);
  const [item] = ownedBy(billing, principal).subscriptions[0]?.items.data ?? [];
  billing.sandbox.payment.clock.advanceTo(item?.current_period_end ?? 0);
  await billing.settled();
  const all = ownedBy(billing, principal).invoices;
  expect([all.length, all.at(-1)?.status]).toEqual([16, 'draft']);
  const shown = (await readInvoices(billing.app, principal))?.invoices ?? [];
  expect(shown.map(({ id }) => id)).toEqual(
    all
      .slice(3, 15)
      .map(({ id }) => id)
      .toReversed(),
  );
});

test('a change of the subscription shows at once, within the five seconds too', async () => {
  const { principal } = await makeSubscriber(billing);
  expect((await readInvoices(billing.app, principal))?.next).toMatchObject({ amount: 2400 });
  await callerFor(billing, principal).billing.cancel({});
  expect(await readInvoices(billing.app, principal)).toMatchObject({ next: null, is_current: true });
});

test('a plan that ends has no next invoice, and the method of the customer is shown without a subscription', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  billing.sandbox.payment.setCard(String(subscription.customer), '4000000000000341');
  await callerFor(billing, principal).billing.cancel({});
  expect(await readInvoices(billing.app, principal)).toMatchObject({ next: null, is_current: true });
  billing.sandbox.payment.clock.advanceToPeriodEnd(subscription.id);
  await billing.settled();
  await passPause(principal);
  expect(await readInvoices(billing.app, principal)).toMatchObject({ next: null, method: { name: 'visa 0341' } });
});

test('an open invoice is shown as open, and as paid once it is', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  billing.sandbox.payment.setCard(String(subscription.customer), '4000000000000341');
  billing.sandbox.payment.clock.advanceToPeriodEnd(subscription.id);
  await billing.settled();
  const states = async () => (await readInvoices(billing.app, principal))?.invoices?.map(({ state }) => state);
  expect(await states()).toEqual(['open', 'paid']);
  const open = ownedBy(billing, principal).invoices.find(({ status }) => status === 'open');
  billing.sandbox.payment.payInvoice(open?.id ?? '');
  await passPause(principal);
  expect(await states()).toEqual(['paid', 'paid']);
});

test.each(['hang', 'close', 500] as const)(
  'while the provider does not answer (%s), what was known stays, within a second',
  async (failure) => {
    const { principal } = await makeSubscriber(billing);
    const known = await readInvoices(billing.app, principal);
    billing.sandbox.payment.set({ api_failure: failure });
    await passPause(principal);
    const began = performance.now();
    expect(await readInvoices(billing.app, principal)).toEqual({ ...known, is_current: false });
    expect(performance.now() - began).toBeLessThan(1500);
    // The next reader does not wait for a provider that has just not answered.
    billing.sandbox.payment.set({ api_failure: 'hang' });
    const again = performance.now();
    expect(await readInvoices(billing.app, principal)).toEqual({ ...known, is_current: false });
    expect(performance.now() - again).toBeLessThan(500);
  },
);

test('a part that is not answered in time keeps what was known of it', async () => {
  const { principal } = await makeSubscriber(billing);
  const known = await readInvoices(billing.app, principal);
  billing.sandbox.payment.set({ api_failure: 503, api_failure_only: 'GET /v1/invoices' });
  await callerFor(billing, principal).billing.cancel({});
  await passPause(principal);
  const partly = await readInvoices(billing.app, principal);
  expect(partly).toEqual({ ...known, next: null, is_current: false });
});

test('what was never read is null, and an organisation without a customer has nothing', async () => {
  const { principal } = await makeSubscriber(billing);
  billing.sandbox.payment.set({ api_failure: 500 });
  const unknown = { invoices: null, next: null, method: null, as_of: null, is_current: false };
  expect(await readInvoices(billing.app, principal)).toEqual(unknown);
  expect(await readInvoices(billing.app, await makeMember(billing))).toBeNull();
});

test('the provider is asked once in five seconds, by one reader', async () => {
  const { principal } = await makeSubscriber(billing);
  const held = billing.sandbox.payment.holdRequests();
  const readers = Promise.all([1, 2, 3].map(() => readInvoices(billing.app, principal)));
  await expect.poll(() => held.count()).toBe(3);
  held.release();
  const [first, ...others] = await readers;
  for (const other of others) expect(other).toEqual(first);
  billing.sandbox.payment.set({ api_failure: 500 });
  expect(await readInvoices(billing.app, principal)).toEqual(first);
});

test('what an earlier customer was shown is not shown of the next one', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  await readInvoices(billing.app, principal);
  await fetch(`${billing.sandbox.payment.apiUrl}/v1/customers/${subscription.customer}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${billing.sandbox.payment.secretKey}` },
  });
  await billing.settled();
  await startCheckout(billing.app, principal, { tier: 'silver' });
  expect(await readInvoices(billing.app, principal)).toMatchObject({ invoices: [], next: null, method: null });
});

test('members who are not administrators are refused', async () => {
  for (const role of ['member', 'viewer'] as const) {
    const member = await makeMember(billing, role);
    await expect(callerFor(billing, member).billing.invoices()).rejects.toMatchObject({ code: 'FORBIDDEN' });
  }
});
