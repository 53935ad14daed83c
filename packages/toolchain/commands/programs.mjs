import { bootstrap, nodeBinary } from '../install/bootstrap.mjs';
import { build } from '../install/build.mjs';
import { programEnvironment } from '../process/environment.mjs';
import { fromRoot } from '../process/paths.mjs';
import { endAll, launch } from '../process/processes.mjs';

/** `npm run build`: builds everything again, also if nothing has changed. */
export async function buildAll() {
  await bootstrap();
  await build(['web', 'server', 'client'], { always: true });
}

/** `npm run pack`: see packages/release. */
export function pack(args) {
  return runOnBuild('packages/release/src/pack.ts', args);
}

/** `npm run bench`: see packages/bench. */
export function bench(args) {
  return runOnBuild('packages/bench/src/run.ts', args);
}

/** Runs a program of another package that works on the built service, and ends with its exit code. */
async function runOnBuild(program, args) {
  await bootstrap();
  await build(['web', 'server']);
  const env = programEnvironment({ ...process.env, GATEHOUSE_ENV_FILE: 'off' });
  await endAll(await launch([nodeBinary(), fromRoot(program), ...args], { env }).exited);
}
