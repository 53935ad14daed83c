import type { Provider } from '../provider/provider.ts';
import type { Invoice, Subscription } from '../provider/records.ts';

/** The sandbox's rate, for every country in which the account is registered. */
const percent = 20;

/**
 * Adds the tax of a subscription with automatic tax to the lines and the totals of its new invoice, whose lines have
 * their discounts. Without the customer's country, or without a registration there, the tax is 0.
 */
export function taxInvoice(provider: Provider, { automatic_tax: { enabled } }: Subscription, invoice: Invoice): void {
  const country = provider.state.customers[invoice.customer]?.address?.country ?? null;
  if (enabled && country === null) invoice.automatic_tax.status = 'requires_location_inputs';
  if (!enabled || !provider.state.tax_countries.some((each) => each.country === country)) return;

  for (const line of invoice.lines.data) {
    const behavior = provider.state.prices[line.pricing.price_details.price]?.tax_behavior ?? 'unspecified';
    const inclusive = behavior === 'inclusive';
    const amount = line.amount - (line.discount_amounts ?? []).reduce((sum, each) => sum + each.amount, 0);
    const tax = Math.round(inclusive ? amount - amount / (1 + percent / 100) : (amount * percent) / 100);
    line.taxes = [
      {
        amount: tax,
        tax_behavior: inclusive ? 'inclusive' : 'exclusive',
        tax_rate_details: null,
        taxability_reason: 'standard_rated',
        taxable_amount: inclusive ? amount - tax : amount,
        type: 'tax_rate_details',
      },
    ];
  }
  const taxes = invoice.lines.data.flatMap((line) => line.taxes ?? []);
  const sum = (wanted: string) =>
    taxes.filter((tax) => tax.tax_behavior === wanted).reduce((all, { amount }) => all + amount, 0);
  const [exclusive, inclusive] = [sum('exclusive'), sum('inclusive')];
  invoice.total_taxes = taxes;
  invoice.total_excluding_tax = invoice.total - inclusive;
  invoice.total += exclusive;
}
