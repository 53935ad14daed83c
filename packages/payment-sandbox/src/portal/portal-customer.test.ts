import { expect, test } from 'vitest';
import { postForm, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

test('the portal changes of the customer’s details what its configuration allows', async () => {
  const { id: customer } = await setup.stripe.customers.create({ name: 'Larch', email: 'bills@larch.example' });
  const { id: configuration } = await setup.stripe.billingPortal.configurations.create({
    features: { customer_update: { enabled: true, allowed_updates: ['name'] } },
  });
  const { url } = await setup.stripe.billingPortal.sessions.create({ customer, configuration });
  const page = await (await fetch(url)).text();
  expect([page.includes('name="name"'), page.includes('name="email"')]).toEqual([true, false]);
  expect((await postForm(url, { act: 'customer', name: 'Larch Ltd' })).status).toBe(303);
  expect((await postForm(url, { act: 'customer', email: 'other@larch.example' })).status).toBe(402);
  expect(await setup.stripe.customers.retrieve(customer)).toMatchObject({
    name: 'Larch Ltd',
    email: 'bills@larch.example',
  });
  const [last] = (await setup.stripe.events.list({ type: 'customer.updated' })).data;
  expect(last?.data).toMatchObject({ previous_attributes: { name: 'Larch' } });
});
