import { nodeBinary } from '../install/bootstrap.mjs';
import { build } from '../install/build.mjs';
import { fromRoot } from '../process/paths.mjs';
import { prepare, runWithSandbox } from './start.mjs';

/** `npm run dev`: like start, with hot reload: pages are served from their sources. */
export async function dev(flags) {
  const { port, environment, dataDir } = await prepare();
  // The operator's command line, which creates the demo accounts, is part of this build.
  await build(['server', 'sandbox']);
  const service = [nodeBinary(), fromRoot('apps/server/src/dev.ts')];
  const demo = !flags.includes('--no-demo');
  await runWithSandbox(service, { port, dataDir, demo, environment: { ...environment, NODE_ENV: 'development' } });
}
