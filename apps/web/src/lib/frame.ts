import { page } from '$app/state';

/** What the root layout gives to every page, error pages included. */
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
}

export function frame(): Frame {
  return page.data as Frame;
}
