import type { App } from '@gatehouse/api/app';
import { parseConfig } from '@gatehouse/api/config';
import { createApp } from '@gatehouse/api/create-app';

let opened: App | undefined;
let opening: Promise<void> | undefined;

/** Creates the App, once, before the first request. */
export function openApp(): Promise<void> {
  opening ??= open();
  return opening;
}

async function open(): Promise<void> {
  const migrations = process.env.GATEHOUSE_MIGRATIONS;
  if (!migrations) throw new Error('GATEHOUSE_MIGRATIONS is unset: start the service with `npm run serve`.');

  const app = await createApp({ config: parseConfig(process.env), migrations, work: true });
  opened = app;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => beginShutdown(app));
  process.once('sveltekit:shutdown', () => app.close());
}

/** Stops the feed and the jobs while open requests drain. The requests can still enqueue jobs. */
function beginShutdown(app: App): void {
  // Waiting readers of the feed would hold up the drain.
  app.changes.stop();
  // Running jobs would have little time left after the drain. `close` waits for this stop, and repeats it if it failed.
  app.jobs.stop().catch(() => {});
}

/** @throws Error before openApp has finished. */
export function theApp(): App {
  if (opened === undefined) throw new Error('The service is not open yet.');
  return opened;
}
