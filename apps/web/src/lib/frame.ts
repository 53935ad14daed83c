import type { OwnOrganisation } from '#lib/own-organisation.ts';
import { page } from '$app/state';

/** What the root layout gives to every page, error pages included. A page's own data must not take these names. */
export interface Frame {
  service: {
    name: string;
    url: string | null;
    logo: string | null;
    brandColor: string | null;
    supportEmail: string | null;
    idpName: string | null;
    billingEnabled: boolean;
  };
  theme: 'light' | 'dark' | null;
  /** null on pages for nobody in particular */
  person: { email: string; name: string | null; operator: boolean; organisation: string | null } | null;
  /** on the pages after sign-in: those between which the person can switch */
  organisations?: OwnOrganisation[];
}

export function frame(): Frame {
  return page.data as Frame;
}
