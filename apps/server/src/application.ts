import type { App } from '@gatehouse/api/app';
import { openApp } from '@gatehouse/api/create-app';
import type { Config } from '@gatehouse/api/platform/config';
import { createRestHandler } from './api/rest-handler.ts';
import type { OpenApplication } from './service.ts';

const pagesHandler = new URL('../../web/build/handler.js', import.meta.url);

/**
 * Creates the App, which migrates the database and waits for one that is unavailable, and loads the pages: Kit's build,
 * whose hook awaits the same App. Resolves when every request can be answered.
 *
 * @throws Error whose message is a sentence that says why the App cannot start.
 */
export async function openApplication(config: Config): Promise<OpenApplication> {
  // Kit's modules are loaded while the database answers.
  const opening = openApi(config);
  const [api, { handler }] = await Promise.all([opening, import(pagesHandler.href)]);
  return { ...api, pages: handler };
}

/** Creates the App, by the environment unless a configuration is given, and what answers requests to its API. */
export async function openApi(config?: Config): Promise<Omit<OpenApplication, 'pages'>> {
  const app = await openApp(config);
  return {
    rest: createRestHandler(app),
    readiness: () => app.databaseHealth.check(),
    countRefusal: (requestClass) => app.metrics.count('gatehouse_overload_refusals_total', { class: requestClass }),
    beginShutdown: () => beginShutdown(app),
    close: app.close,
  };
}

/** Stops the feed and the jobs while open requests drain. The requests can still enqueue jobs. */
export function beginShutdown(app: App): void {
  // Requests that wait for the feed would delay the drain.
  app.changes.stop();
  // Running jobs would have little time left after the drain. `close` waits for this stop, and repeats it if it failed.
  app.jobs.stop().catch(() => {});
}
