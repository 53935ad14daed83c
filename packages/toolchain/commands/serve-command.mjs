import fs from 'node:fs';
import { bootstrap, nodeBinary } from '../install/bootstrap.mjs';
import { builds } from '../install/build.mjs';
import { programEnvironment, serviceOptions } from '../process/environment.mjs';
import { UserError } from '../process/log.mjs';
import { fromRoot } from '../process/paths.mjs';

/**
 * Prints the command that runs the built service, for the shell of `npm run serve`: the shell becomes
 * the service, so no process of this toolchain stays beside it.
 *
 * @throws UserError if there is no build.
 */
export async function serveCommand() {
  for (const { entry } of [builds.web, builds.server]) {
    if (!fs.existsSync(fromRoot(entry))) throw new UserError('There is no build here: run npm run build first.');
  }
  await bootstrap();

  const { NODE_ENV, UV_THREADPOOL_SIZE, NODE_COMPILE_CACHE } = programEnvironment(process.env);
  const variables = [
    `NODE_ENV=${NODE_ENV}`,
    `UV_THREADPOOL_SIZE=${UV_THREADPOOL_SIZE}`,
    `NODE_COMPILE_CACHE=${NODE_COMPILE_CACHE}`,
  ];
  const command = ['env', ...variables, nodeBinary(), ...serviceOptions, fromRoot(builds.server.entry)];
  process.stdout.write(command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' '));
}
