import fs from 'node:fs';
import { bootstrap, nodeBinary } from '../install/bootstrap.mjs';
import { builds } from '../install/build.mjs';
import { programEnvironment } from '../process/environment.mjs';
import { UserError } from '../process/log.mjs';
import { fromRoot } from '../process/paths.mjs';
import { endAll, launch } from '../process/processes.mjs';

/**
 * Runs the built service, configured by the environment alone. Exits with the service's exit code.
 *
 * @throws UserError without a build.
 */
export async function serve() {
  for (const { entry } of [builds.web, builds.server]) {
    if (!fs.existsSync(fromRoot(entry))) throw new UserError('There is no build here: run npm run build first.');
  }
  await bootstrap();

  const command = [nodeBinary(), fromRoot(builds.server.entry)];
  const service = launch(command, { env: programEnvironment(process.env), ours: true });
  const code = await service.exited;
  await endAll(code);
}
