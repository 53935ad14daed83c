import type { App } from '@gatehouse/api/app';

/** What every page shows of the company that runs the service, and which features are on. */
export type Branding = {
  name: string;
  url: string | null;
  logo: string | null;
  brandColor: string | null;
  supportEmail: string | null;
  idpName: string | null;
  billingEnabled: boolean;
};

export function brandingOf({ config, payment }: App): Branding {
  return { ...config.service, idpName: config.idp?.name ?? null, billingEnabled: payment !== null };
}
