import { expect, test } from 'vitest';
import { useCheckedSandbox } from '../../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

test.each([
  ['keep_as_draft', 'draft'],
  ['void', 'void'],
  ['mark_uncollectible', 'uncollectible'],
] as const)(
  'a collection that is paused with %s leaves the renewal %s and the subscription active',
  async (behavior, status) => {
    const { id } = await setup.buy();
    const paused = await setup.stripe.subscriptions.update(id, { pause_collection: { behavior } });
    expect(paused).toMatchObject({ status: 'active', pause_collection: { behavior, resumes_at: null } });
    setup.sandbox.payment.clock.advanceToPeriodEnd(id);
    const [renewal] = (await setup.stripe.invoices.list({ subscription: id })).data;
    expect(renewal).toMatchObject({ status, amount_paid: 0, billing_reason: 'subscription_cycle' });
    if (status === 'uncollectible') {
      expect(renewal?.status_details?.uncollectible?.reason).toBe('subscription_paused');
    }
    expect(await setup.statusOf(id)).toBe('active');

    expect((await setup.stripe.subscriptions.update(id, { pause_collection: '' })).pause_collection).toBeNull();
    setup.sandbox.payment.clock.advanceToPeriodEnd(id);
    const [next] = (await setup.stripe.invoices.list({ subscription: id })).data;
    expect(next?.status).toBe('paid');
  },
);

test('a paused collection resumes at its time, with an event of the subscription', async () => {
  const { id, items } = await setup.buy();
  const end = items.data[0]?.current_period_end as number;
  const pause = (resumes_at: number) =>
    setup.stripe.subscriptions.update(id, { pause_collection: { behavior: 'void', resumes_at } });
  await expect(pause(1_000_000_000)).rejects.toMatchObject({ param: 'pause_collection[resumes_at]' });
  await pause(end - 3600);
  setup.sandbox.payment.clock.advanceTo(end - 3600);
  expect((await setup.stripe.subscriptions.retrieve(id)).pause_collection).toBeNull();
  expect(setup.sandbox.payment.events().at(-1)).toMatchObject({
    type: 'customer.subscription.updated',
    data: { previous_attributes: { pause_collection: { behavior: 'void' } } },
  });
  setup.sandbox.payment.clock.advanceToPeriodEnd(id);
  expect((await setup.stripe.invoices.list({ subscription: id })).data[0]?.status).toBe('paid');
});

test('the company pauses the collection by a control', async () => {
  const { id } = await setup.buy();
  expect(setup.sandbox.payment.pauseCollection(id, 'void').pause_collection).toMatchObject({ behavior: 'void' });
  expect(setup.sandbox.payment.pauseCollection(id, null).pause_collection).toBeNull();
});
