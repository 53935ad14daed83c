import { addPrice } from './catalogue/prices.ts';
import { addProduct } from './catalogue/products.ts';
import { addConfiguration } from './portal/portal-configurations.ts';
import type { Provider } from './provider/provider.ts';

const plans = [
  { key: 'silver', name: 'Silver', pence: 2400 },
  { key: 'gold', name: 'Gold', pence: 7900 },
];

/**
 * Creates two products with prices and a default portal configuration, if there is no product yet.
 * The proration of plan changes stays at the provider's default (`none`), so that a service that
 * forgets to configure it charges nothing here either.
 */
export function seed(provider: Provider): void {
  if (Object.keys(provider.state.products).length > 0) return;
  const products = plans.map(({ key, name, pence }) => {
    const product = addProduct(provider, `prod_sandbox_${key}`, { name });
    const price = addPrice(provider, `price_sandbox_${key}_monthly`, product.id, {
      currency: 'gbp',
      unit_amount: pence,
      lookup_key: `${key}_monthly`,
      nickname: name,
      recurring: { interval: 'month' },
    });
    return { product: product.id, prices: [price.id] };
  });
  addConfiguration(
    provider,
    'bpc_sandbox_default',
    {
      features: {
        invoice_history: { enabled: true },
        payment_method_update: { enabled: true },
        subscription_cancel: { enabled: true, mode: 'at_period_end' },
        subscription_update: {
          enabled: true,
          default_allowed_updates: ['price'],
          products,
        },
      },
    },
    true,
  );
}
