import fs from 'node:fs';
import { bootstrap, nodeBinary } from '../install/bootstrap.mjs';
import { build } from '../install/build.mjs';
import { programEnvironment } from '../process/environment.mjs';
import { log, UserError } from '../process/log.mjs';
import { fromRoot } from '../process/paths.mjs';
import { endAll, launch } from '../process/processes.mjs';

/**
 * Runs every packages/bench/src/*.bench.ts, or those whose names contain one of the arguments,
 * one after the other so that they do not disturb each other. Ends with the highest exit code.
 *
 * @throws UserError if no benchmark matches.
 */
export async function bench(args) {
  const files = fs.readdirSync(fromRoot('packages/bench/src')).filter((file) => file.endsWith('.bench.ts'));
  const chosen = files.filter((file) => args.length === 0 || args.some((part) => file.includes(part))).sort();
  if (chosen.length === 0) throw new UserError(`There is no such benchmark. There are: ${files.join(', ')}.`);

  await bootstrap();
  await build(['web', 'server']);
  const env = programEnvironment({ ...process.env, GATEHOUSE_ENV_FILE: 'off' });
  let highest = 0;
  for (const file of chosen) {
    log(`\n${file.replace('.bench.ts', '')}`);
    highest = Math.max(highest, await launch([nodeBinary(), fromRoot('packages/bench/src', file)], { env }).exited);
  }
  await endAll(highest);
}
