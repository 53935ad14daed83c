import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { bootstrap, nodeBinary } from './bootstrap.mjs';
import { build } from './build.mjs';
import { place, root } from './places.mjs';
import { environmentBeside } from './running-start.mjs';
import { Sentence } from './say.mjs';
import { personsEnvironment, programEnvironment } from './surroundings.mjs';

/** The operator's command line. Its stdout and exit code are the command's own. */
export async function operator(args) {
  await bootstrap();
  await build(['server']);
  const program = place('apps/server/dist/operator.js');
  if (!fs.existsSync(program)) throw new Sentence('There is no operator command in this build: run npm run build.');

  // Not behind a pipe: it may ask, and a terminal's Ctrl-C is its own to answer.
  const child = spawn(nodeBinary(), [program, ...args], {
    cwd: root,
    env: programEnvironment(environmentBeside(personsEnvironment())),
    stdio: 'inherit',
  });
  process.exitCode = await new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)));
    for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  });
  process.exit();
}
