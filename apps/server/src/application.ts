import type { App } from '@gatehouse/api/app';
import { openApp } from '@gatehouse/api/create-app';
import type { Config } from '@gatehouse/api/platform/config';
import { createApi } from './api/api.ts';
import type { OpenApplication } from './service.ts';

/**
 * Creates the App, by the environment unless a configuration is given, and what answers requests to its API. Migrates
 * the database, and waits for one that is unavailable.
 *
 * @throws Error whose message is a sentence that says why the App cannot start.
 */
export async function openApi(config?: Config): Promise<Omit<OpenApplication, 'pages'>> {
  const app = await openApp(config);
  return {
    api: createApi(app),
    readiness: () => app.databaseHealth.check(),
    countRefusal: (requestClass) => app.metrics.count('gatehouse_overload_refusals_total', { class: requestClass }),
    logFailure: (error) => app.log.error('a page could not be answered', { error }),
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
