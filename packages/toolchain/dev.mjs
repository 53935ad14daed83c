import { nodeBinary } from './bootstrap.mjs';
import { build } from './build.mjs';
import { fromRoot } from './paths.mjs';
import { prepare, runBeside } from './start.mjs';

/** The same as start, with the pages served from their sources and changed in the browser as they are saved. */
export async function dev(flags) {
  const { port, environment, dataDir } = await prepare();
  // For the operator's command line, which makes the demo accounts.
  await build(['server']);
  const service = [nodeBinary(), fromRoot('apps/server/src/dev.ts')];
  const demo = !flags.includes('--no-demo');
  await runBeside(service, { port, dataDir, demo, environment: { ...environment, NODE_ENV: 'development' } });
}
