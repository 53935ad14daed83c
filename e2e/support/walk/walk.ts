import type { APIRequestContext, Browser, Page } from '@playwright/test';
import type { Service } from '../service.ts';
import { customer } from './customer.ts';
import { invitations } from './invitations.ts';
import { ledger } from './ledger.ts';
import { wide } from './leg.ts';
import { queue } from './queue.ts';
import { sandbox } from './sandbox.ts';
import { visitors } from './visitors.ts';

const patienceMilliseconds = 15_000;

/** What is done with each page: it may change scheme and size, which are put back afterwards. */
export type Look = (page: Page, name: string) => Promise<void>;

export type Seen = { name: string; path: string; status: number };

/**
 * Every page of the service and of its sandbox in each state that looks different, as people come
 * to them. A new page is a line in the leg of whoever sees it; e2e/stories/axe.spec.ts fails without one.
 */
export async function walkPages(
  { browser, request, service }: { browser: Browser; request: APIRequestContext; service: Service },
  look: Look,
): Promise<Seen[]> {
  const seen: Seen[] = [];
  const contexts: { close: () => Promise<void> }[] = [];

  async function somebody(): Promise<Page> {
    const context = await browser.newContext({ baseURL: service.baseUrl, viewport: wide, reducedMotion: 'reduce' });
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMilliseconds);
    return page;
  }

  async function see(page: Page, name: string, path?: string): Promise<void> {
    const answer = path === undefined ? null : await page.goto(path);
    const address = new URL(page.url());
    const isOurs = address.origin === service.baseUrl;
    seen.push({ name, path: isOurs ? address.pathname : address.href, status: answer?.status() ?? 200 });
    await look(page, name);
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.setViewportSize(wide);
  }

  for (const leg of [visitors, queue, customer, invitations, ledger, sandbox])
    await leg({ service, request, somebody, see });
  for (const context of contexts) await context.close();
  return seen;
}
