import { addPrice } from './catalogue/prices.ts';
import { addProduct } from './catalogue/products.ts';
import { addConfiguration } from './portal/portal-configurations.ts';
import type { Provider } from './provider/provider.ts';

const plans = [
  { key: 'silver', name: 'Silver', pence: 2400 },
  { key: 'gold', name: 'Gold', pence: 7900 },
];

/**
 * Puts the two plans on sale, and makes a standard portal, in a provider that has nothing yet.
 * How a change of plan is charged is left at the provider's own default (`none`), so that
 * a product that forgets to configure it charges nothing here too.
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
