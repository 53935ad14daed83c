import type { Branding } from '#lib/branding/branding.ts';
import type { Language } from '#lib/language/language.ts';
import type { ShownNotice } from '#lib/notices/notice.ts';
import type { RouterOutputs } from '#lib/router.ts';
import { page } from '$app/state';

/** The data of the root layout, which every page has, error pages included. A page's own data must not use these names. */
export interface LayoutData {
  branding: Branding;
  theme: 'light' | 'dark' | null;
  /** The languages that the user can choose, the default first. */
  languages: readonly Language[];
  /** The signed-in user; null without a session. */
  user: {
    id: string;
    email: string;
    name: string | null;
    operator: boolean;
    approved: boolean;
    organisation: string | null;
    /** Whether the session is fresh, and how else the user confirms who they are. */
    fresh: boolean;
    hasPassword: boolean;
    hasFactor: boolean;
    hasPasskey: boolean;
  } | null;
  /** The notice about the form that led to this page; null on every other page. */
  notice: ShownNotice | null;
  /** On pages after sign-in: the user's organisations, for the menu that switches between them. */
  organisations?: RouterOutputs['organisations']['mine'];
  /** On pages after sign-in: the id of the user for whom the page's data was read. */
  readFor?: string | null;
}

/** The data of the root layout on the current page. */
export function layoutData(): LayoutData {
  return page.data as LayoutData;
}
