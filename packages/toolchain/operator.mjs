import fs from 'node:fs';
import { bootstrap, nodeBinary } from './bootstrap.mjs';
import { build } from './build.mjs';
import { programEnvironment, userEnvironment } from './environment.mjs';
import { UserError } from './log.mjs';
import { fromRoot } from './paths.mjs';
import { runInTerminal } from './processes.mjs';
import { operatorEnvironment } from './running-demo.mjs';

/** Runs the operator's command line, with its standard output and its exit code. */
export async function operator(args) {
  await bootstrap();
  await build(['server']);
  const program = fromRoot('apps/server/dist/operator.js');
  if (!fs.existsSync(program)) throw new UserError('There is no operator command in this build: run npm run build.');

  const env = programEnvironment(operatorEnvironment(userEnvironment()));
  process.exit(await runInTerminal([nodeBinary(), program, ...args], env));
}
