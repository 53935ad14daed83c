import type { APIRequestContext, Browser, Page } from '@playwright/test';
import type { Service } from '../service.ts';
import { customer } from './customer.ts';
import { invitations } from './invitations.ts';
import { operatorEvents } from './operator-events.ts';
import { queue } from './queue.ts';
import type { Visit } from './routes.ts';
import { sandbox } from './sandbox.ts';
import { secondFactor } from './second-factor.ts';
import { wide } from './tour-part.ts';
import { visitors } from './visitors.ts';

/** Called for each page. It may change the colour scheme and the size, which are reset afterwards. */
export type Look = (page: Page, name: string) => Promise<void>;

/**
 * Visits every page of the service and of its sandbox in each state that looks different. A new page
 * is a line in one of the parts; e2e/stories/every-page.spec.ts fails without it.
 */
export async function visitAllPages(
  { browser, request, service }: { browser: Browser; request: APIRequestContext; service: Service },
  look: Look,
): Promise<Visit[]> {
  const seen: Visit[] = [];
  const contexts: { close: () => Promise<void> }[] = [];

  async function newPage(): Promise<Page> {
    const context = await browser.newContext({ baseURL: service.baseUrl, viewport: wide, reducedMotion: 'reduce' });
    contexts.push(context);
    const page = await context.newPage();
    return page;
  }

  async function see(page: Page, name: string, path?: string): Promise<void> {
    const answer = path === undefined ? null : await page.goto(path);
    const address = new URL(page.url());
    const isOurs = address.origin === service.baseUrl;
    seen.push({ path: isOurs ? address.pathname : address.href, status: answer?.status() ?? 200 });
    await look(page, name);
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.setViewportSize(wide);
  }

  for (const visit of [visitors, queue, customer, secondFactor, invitations, operatorEvents, sandbox])
    await visit({ service, request, newPage, see });
  for (const context of contexts) await context.close();
  return seen;
}
