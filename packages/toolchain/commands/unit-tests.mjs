import { bootstrap } from '../install/bootstrap.mjs';
import { testEnvironment } from '../process/environment.mjs';
import { endAll, launch } from '../process/processes.mjs';

export const vitestCommand = ['node_modules/.bin/vitest', 'run'];

/** Runs all unit and integration tests, or those that vitest's arguments choose (a path, `-t NAME`). */
export async function runUnitTests(args) {
  await bootstrap();
  await endAll(await launch([...vitestCommand, ...args], { env: testEnvironment() }).exited);
}

/** Runs the tests that need no database and no process, in seconds. */
export function runPureTests(args) {
  return runUnitTests(['--project=pure', ...args]);
}
