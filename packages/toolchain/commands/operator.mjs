import fs from 'node:fs';
import { bootstrap, nodeBinary } from '../install/bootstrap.mjs';
import { build } from '../install/build.mjs';
import { programEnvironment, userEnvironment } from '../process/environment.mjs';
import { UserError } from '../process/log.mjs';
import { fromRoot } from '../process/paths.mjs';
import { runInTerminal } from '../process/processes.mjs';
import { operatorEnvironment } from '../process/running-demo.mjs';

/**
 * Runs the operator's command line, with its standard output and its exit code.
 *
 * @throws UserError if it has not been built.
 */
export async function operator(args) {
  await bootstrap();
  await build(['server']);
  const program = fromRoot('apps/server/dist/operator.js');
  if (!fs.existsSync(program)) throw new UserError('There is no operator command in this build: run npm run build.');

  const env = programEnvironment(operatorEnvironment(userEnvironment()));
  process.exit(await runInTerminal([nodeBinary(), program, ...args], env));
}
