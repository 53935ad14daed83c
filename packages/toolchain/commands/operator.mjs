import { bootstrap, nodeBinary } from '../install/bootstrap.mjs';
import { build } from '../install/build.mjs';
import { programEnvironment, userEnvironment } from '../process/environment.mjs';
import { fromRoot } from '../process/paths.mjs';
import { runInTerminal } from '../process/processes.mjs';
import { operatorEnvironment } from '../process/running-demo.mjs';

/** Builds and runs an admin command, and ends with its exit code. @throws UserError if the build fails. */
export async function operator(args) {
  await bootstrap();
  await build(['server']);
  const program = fromRoot('apps/server/dist/operator.js');

  const env = programEnvironment(operatorEnvironment(userEnvironment()));
  process.exit(await runInTerminal([nodeBinary(), program, ...args], env));
}
