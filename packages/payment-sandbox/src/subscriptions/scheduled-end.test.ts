import { expect, test } from 'vitest';
import { postForm, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

test.each(['flexible', 'classic'] as const)(
  'a cancellation in the portal, in its %s form, ends the subscription at the end of its period',
  async (form) => {
    setup.sandbox.payment.set({ portal_cancellation: form });
    const bought = await setup.buy();
    const end = bought.items.data[0]?.current_period_end as number;
    const portal = await setup.stripe.billingPortal.sessions.create({ customer: bought.customer as string });
    expect((await postForm(portal.url, { act: 'cancel', subscription: bought.id })).status).toBe(303);
    const ending = await setup.stripe.subscriptions.retrieve(bought.id);
    expect(ending).toMatchObject({ status: 'active', cancel_at: end, cancel_at_period_end: form === 'classic' });
    expect(setup.sandbox.payment.events().at(-1)?.data.previous_attributes).toMatchObject({ cancel_at: null });
    setup.sandbox.payment.clock.advanceTo(end);
    expect(await setup.stripe.subscriptions.retrieve(bought.id)).toMatchObject({ status: 'canceled', ended_at: end });
    expect((await setup.stripe.subscriptions.list({ customer: bought.customer as string })).data).toEqual([]);
  },
);

test('each form of a scheduled end is undone by its own parameter, and both at once are refused', async () => {
  const { id } = await setup.buy();
  await expect(
    setup.stripe.subscriptions.update(id, { cancel_at: '', cancel_at_period_end: false }),
  ).rejects.toMatchObject({
    statusCode: 400,
  });
  const flagged = await setup.stripe.subscriptions.update(id, { cancel_at_period_end: true });
  expect((await setup.stripe.subscriptions.update(id, { cancel_at: '' })).cancel_at).toBe(flagged.cancel_at);
  expect((await setup.stripe.subscriptions.update(id, { cancel_at_period_end: false })).cancel_at).toBeNull();
  const timed = await setup.stripe.subscriptions.update(id, { cancel_at: 'min_period_end' });
  expect(timed).toMatchObject({ cancel_at: timed.items.data[0]?.current_period_end, cancel_at_period_end: false });
  expect((await setup.stripe.subscriptions.update(id, { cancel_at_period_end: false })).cancel_at).toBe(
    timed.cancel_at,
  );
  expect((await setup.stripe.subscriptions.update(id, { cancel_at: '' })).cancel_at).toBeNull();
});

test('an ended subscription cannot be revived, and one that is not paused cannot be resumed', async () => {
  const { id } = await setup.buy();
  await expect(setup.stripe.subscriptions.resume(id)).rejects.toMatchObject({ statusCode: 400 });
  await setup.stripe.subscriptions.cancel(id);
  await expect(setup.stripe.subscriptions.cancel(id)).rejects.toMatchObject({
    statusCode: 404,
    code: 'resource_missing',
  });
  await expect(setup.stripe.subscriptions.update(id, { cancel_at_period_end: false })).rejects.toMatchObject({
    code: 'invalid_canceled_subscription_fields',
  });
  expect((await setup.stripe.subscriptions.update(id, { metadata: { note: 'kept' } })).metadata).toEqual({
    note: 'kept',
  });
});
