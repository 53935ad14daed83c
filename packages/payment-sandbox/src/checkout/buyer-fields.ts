import { type Html, html } from '../http/html.ts';
import type { Provider } from '../provider/provider.ts';
import type { CheckoutSession } from '../provider/records.ts';
import type { Buyer } from './pay-checkout.ts';

/** Renders the fields that a session asks the buyer for, beside the payment method. */
export function buyerFields(provider: Provider, session: CheckoutSession): Html {
  const { customer_update: update } = provider.state.checkout_settings[session.id] ?? {};
  const hasAddress = session.billing_address_collection === 'required' || session.automatic_tax.enabled;
  const hasTaxId = session.tax_id_collection?.enabled ?? false;
  const email = session.customer_email ?? provider.state.customers[session.customer ?? '']?.email ?? null;
  return html`${email === null && field('email', 'E-mail', 'email')}
${(hasTaxId || update?.name === 'auto') && field('name', 'Name', 'organization')}
${hasAddress && field('country', 'Country (two letters)', 'country', html` required pattern="[A-Za-z]{2}"`)}
${hasTaxId && field('tax_id', 'Tax number', 'off')}
${session.allow_promotion_codes === true && html`${field('promotion_code', 'Promotion code', 'off')}<button name="apply" value="1" formnovalidate>Apply</button>`}`;
}

function field(name: string, label: string, autocomplete: string, needed: Html | null = null): Html {
  return html`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" autocomplete="${autocomplete}"${needed}></div>`;
}

/** Reads those fields from the posted form. */
export function buyerOf(form: URLSearchParams): Buyer {
  const text = (name: string) => form.get(name)?.trim() ?? '';
  return {
    email: text('email'),
    name: text('name'),
    country: text('country').toUpperCase(),
    taxId: text('tax_id'),
    promotionCode: text('promotion_code'),
  };
}
