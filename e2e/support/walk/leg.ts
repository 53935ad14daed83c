import type { APIRequestContext, Page } from '@playwright/test';
import type { Service } from '../service.ts';

export const wide = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

/** What one part of the walk is given. */
export type Walk = {
  service: Service;
  request: APIRequestContext;
  /** A browser in which nobody is signed in. */
  somebody: () => Promise<Page>;
  /** Looks at that path, or at the page as it stands. The name says what is seen, and is the picture's. */
  see: (page: Page, name: string, path?: string) => Promise<void>;
};
