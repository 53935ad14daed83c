import type Stripe from 'stripe';
import { addressIn } from '../customers/address.ts';
import { now } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import { listPage } from '../routing/lists.ts';
import { pageRules } from '../routing/parameters.ts';
import { route } from '../routing/route.ts';

export const taxRoutes = [
  route<Stripe.Tax.SettingsRetrieveParams>('GET', '/v1/tax/settings', {}, ({ provider }) => settingsOf(provider)),
  route<Stripe.Tax.RegistrationListParams>(
    'GET',
    '/v1/tax/registrations',
    { ...pageRules, status: { one: ['active', 'all', 'expired', 'scheduled'] } },
    ({ provider, params, path }) =>
      listPage(
        path,
        params.status === 'expired' || params.status === 'scheduled' ? [] : registrationsOf(provider),
        params,
        'registration',
      ),
  ),
];

/** The settings are pending until the account has a head office, which its first registration gives it. */
function settingsOf({ state, livemode }: Provider): Stripe.Tax.Settings {
  const isActive = state.tax_countries.length > 0 || state.switches.tax_settings === 'active';
  return {
    object: 'tax.settings',
    defaults: { provider: 'stripe', tax_behavior: null, tax_code: null },
    head_office: isActive ? { address: addressIn(state.tax_countries[0]?.country ?? 'GB') } : null,
    livemode,
    status: isActive ? 'active' : 'pending',
    status_details: isActive ? { active: {} } : { pending: { missing_fields: ['head_office'] } },
  };
}

function registrationsOf({ state, livemode }: Provider): Stripe.Tax.Registration[] {
  return state.tax_countries.map(({ id, country, at }) => ({
    id,
    object: 'tax.registration',
    active_from: at,
    country,
    country_options: { [country.toLowerCase()]: { type: 'standard' } } as Stripe.Tax.Registration.CountryOptions,
    created: at,
    expires_at: null,
    livemode,
    status: 'active',
  }));
}

/** Registers the account for tax in a country, as the company does in the dashboard. */
export function registerForTax(provider: Provider, country: string): void {
  provider.state.tax_countries.push({ id: newId('taxreg'), country, at: now(provider) });
}
