import { nodeBinary } from '../install/bootstrap.mjs';
import { build } from '../install/build.mjs';
import { fromRoot } from '../process/paths.mjs';
import { prepare, runWithSandbox } from './start.mjs';

/** `npm run dev`: does what `start` does, but serves the pages from their sources, with hot reload. */
export async function dev(flags) {
  const { port, environment, dataDir } = await prepare();
  // The admin commands, which create the demo accounts, are part of this build.
  await build(['server', 'sandbox']);
  const service = [nodeBinary(), fromRoot('apps/server/src/dev.ts')];
  const demo = !flags.includes('--no-demo');
  await runWithSandbox(service, { port, dataDir, demo, environment: { ...environment, NODE_ENV: 'development' } });
}
