import { expect, test } from 'vitest';
import { declinesLater, postForm, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

/** Buys a plan by checkout, which gives the subscription a card of its own, and saves another card in the portal. */
async function changedCard() {
  const { id, customer, default_payment_method: own } = await setup.buy();
  expect(own).not.toBeNull();
  const { url } = await setup.stripe.billingPortal.sessions.create({ customer: customer as string });
  expect((await postForm(url, { act: 'card', card: declinesLater })).status).toBe(303);
  const [saved] = (await setup.stripe.paymentMethods.list({ customer: customer as string })).data;
  return { id, own, customer: customer as string, saved: saved?.id };
}

test('a card that the portal saves is the customer’s default, and the subscription goes on charging its own', async () => {
  const { id, own, customer, saved } = await changedCard();
  expect(await setup.stripe.customers.retrieve(customer)).toMatchObject({
    invoice_settings: { default_payment_method: saved },
  });
  expect((await setup.stripe.subscriptions.retrieve(id)).default_payment_method).toBe(own);
  setup.sandbox.payment.clock.advanceToPeriodEnd(id);
  expect(await setup.statusOf(id)).toBe('active');
});

test('with `portal_card: subscriptions` it is the default of the subscription too', async () => {
  setup.sandbox.payment.set({ portal_card: 'subscriptions' });
  const { id, saved } = await changedCard();
  expect((await setup.stripe.subscriptions.retrieve(id)).default_payment_method).toBe(saved);
});

test('the card of a subscription can be replaced, and cleared only with `subscription_card_clears`', async () => {
  const { id, saved } = await changedCard();
  const clear = () => setup.stripe.subscriptions.update(id, { default_payment_method: '' });
  await expect(clear()).rejects.toMatchObject({ code: 'parameter_invalid_empty', param: 'default_payment_method' });
  setup.sandbox.payment.set({ subscription_card_clears: true });
  expect((await clear()).default_payment_method).toBeNull();
  const replaced = await setup.stripe.subscriptions.update(id, { default_payment_method: saved as string });
  expect(replaced.default_payment_method).toBe(saved);
});
