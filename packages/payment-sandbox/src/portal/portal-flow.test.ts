import { expect, test } from 'vitest';
import { gold, silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

test('a portal session with a flow that the portal cannot carry out is refused', async () => {
  const bought = await setup.buy();
  const confirm = (price: string, item = bought.items.data[0]?.id as string) =>
    setup.stripe.billingPortal.sessions.create({
      customer: bought.customer as string,
      flow_data: {
        type: 'subscription_update_confirm',
        subscription_update_confirm: { subscription: bought.id, items: [{ id: item, price }] },
      },
    });
  await expect(confirm(silver)).rejects.toMatchObject({ message: /no changes/ });
  await expect(confirm(gold, 'si_none')).rejects.toMatchObject({ code: 'resource_missing' });
  const other = await setup.stripe.prices.create({
    product: 'prod_sandbox_gold',
    currency: 'gbp',
    unit_amount: 1,
    recurring: { interval: 'month' },
  });
  await expect(confirm(other.id)).rejects.toMatchObject({ message: /not included in the configuration/ });
  expect((await confirm(gold)).flow?.subscription_update_confirm?.items[0]?.price).toBe(gold);
  setup.sandbox.payment.set({ portal_refuses_flows: true });
  await expect(confirm(gold)).rejects.toMatchObject({ statusCode: 400 });
});
