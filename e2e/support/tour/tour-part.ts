import type { APIRequestContext, Page } from '@playwright/test';
import type { Service } from '../service.ts';

export const wide = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

/** A cursor for the lists of the operator console that leaves out no row: the page shows them and links to the first page. */
export const newestId = 'ffffffff-ffff-4fff-bfff-ffffffffffff';

/** The arguments of each part of the tour of all pages. */
export type TourPart = {
  service: Service;
  request: APIRequestContext;
  /** Opens a page in a new browser context without a session. */
  newPage: () => Promise<Page>;
  /** Opens the path, or takes the page in its current state, and records it by a name: that of its picture. */
  see: (page: Page, name: string, path?: string) => Promise<void>;
};
