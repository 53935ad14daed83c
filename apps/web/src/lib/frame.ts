import type { Branding } from '#lib/branding/branding.ts';
import type { ShownNotice } from '#lib/notices/notice.ts';
import type { RouterOutputs } from '#lib/router.ts';
import { page } from '$app/state';

/** The data of the root layout, which every page has, error pages included. A page's own data must not use these names. */
export interface Frame {
  service: Branding;
  theme: 'light' | 'dark' | null;
  /** The signed-in user, null without a session. */
  person: {
    id: string;
    email: string;
    name: string | null;
    operator: boolean;
    approved: boolean;
    organisation: string | null;
  } | null;
  /** What the form before this page did; null on every other page. */
  notice: ShownNotice | null;
  /** On pages after sign-in: the organisations between which the user can switch. */
  organisations?: RouterOutputs['organisations']['mine'];
  /** On pages after sign-in: the id of the user for whom the page's data was read. */
  readFor?: string | null;
}

/** The data of the root layout on the current page. */
export function frame(): Frame {
  return page.data as Frame;
}
