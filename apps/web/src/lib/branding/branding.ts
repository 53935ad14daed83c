import type { App } from '@gatehouse/api/app';

/** The branding that every page shows, and the optional features that are on. */
export type Branding = {
  name: string;
  url: string | null;
  logo: string | null;
  logoDark: string | null;
  isWordmark: boolean;
  brandColor: string | null;
  supportEmail: string | null;
  termsUrl: string | null;
  privacyUrl: string | null;
  idpName: string | null;
  billingEnabled: boolean;
};

export function brandingOf({ config, payment }: App): Branding {
  return { ...config.service, idpName: config.idp?.name ?? null, billingEnabled: payment !== null };
}
