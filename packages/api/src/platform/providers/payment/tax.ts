import type { Ask } from './connection.ts';

/** What the account needs before the provider can compute tax. */
export type TaxAccount = {
  isActive: boolean;
  /** The settings that are missing, by the provider's names. */
  missing: string[];
  /** The countries in which it is registered, as two letters: tax is computed there alone. */
  countries: string[];
  /** Whether a price that does not say it has tax added or in it. */
  hasDefaultBehavior: boolean;
};

/** Returns the account's tax settings and registrations. @throws AppError PROVIDER_UNAVAILABLE. */
export async function readTaxAccount(ask: Ask): Promise<TaxAccount> {
  const { status, status_details, defaults } = await ask((provider) => provider.tax.settings.retrieve());
  const { data } = await ask((provider) => provider.tax.registrations.list({ status: 'active', limit: 100 }));
  return {
    isActive: status === 'active',
    missing: status_details.pending?.missing_fields ?? [],
    countries: [...new Set(data.map(({ country }) => country))],
    hasDefaultBehavior: defaults.tax_behavior !== null,
  };
}
