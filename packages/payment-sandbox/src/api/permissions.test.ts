import { expect, test } from 'vitest';
import type { Permission } from '../provider/provider.ts';
import { silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';
import { sdk } from '../testing.ts';

const setup = useCheckedSandbox();

function restricted(...permissions: Permission[]) {
  const { apiUrl } = setup.sandbox.payment;
  const { secretKey, used } = setup.sandbox.payment.restrictKey(permissions);
  return { stripe: sdk({ payment: { apiUrl, secretKey } }), used };
}

const refused = { statusCode: 403, type: 'StripePermissionError' };

test('a restricted key may do what it is permitted, write includes read, and the refusal names what is missing', async () => {
  const { stripe, used } = restricted('customers:write', 'prices:read');
  const { id } = await stripe.customers.create({});
  expect((await stripe.customers.retrieve(id)).id).toBe(id);
  expect((await stripe.prices.list()).data.length).toBeGreaterThan(0);
  await expect(stripe.prices.update(silver, { nickname: 'No' })).rejects.toMatchObject({
    ...refused,
    message: expect.stringContaining("'rak_prices_write'"),
  });
  await expect(stripe.subscriptions.list()).rejects.toMatchObject(refused);
  expect(used()).toEqual(['customers:read', 'customers:write', 'prices:read']);
});

test('an expanded object needs the permission to read it', async () => {
  const { id } = await setup.buy();
  const { stripe } = restricted('subscriptions:read', 'invoices:read', 'customers:read');
  const expand = ['latest_invoice', 'customer'];
  expect((await stripe.subscriptions.retrieve(id, { expand })).latest_invoice).toMatchObject({ object: 'invoice' });
  const card = ['customer.invoice_settings.default_payment_method', 'default_payment_method'];
  await expect(stripe.subscriptions.retrieve(id, { expand: card })).rejects.toMatchObject(refused);
});

test('a refused request is not found out by the id, and changes nothing', async () => {
  const { stripe } = restricted('customers:read');
  await expect(stripe.customers.update('cus_none', {})).rejects.toMatchObject(refused);
  await expect(stripe.customers.retrieve('cus_none')).rejects.toMatchObject({ code: 'resource_missing' });
});
