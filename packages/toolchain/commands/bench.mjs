import fs from 'node:fs';
import { bootstrap, nodeBinary } from '../install/bootstrap.mjs';
import { build } from '../install/build.mjs';
import { programEnvironment } from '../process/environment.mjs';
import { log } from '../process/log.mjs';
import { fromRoot } from '../process/paths.mjs';
import { endAll, launch } from '../process/processes.mjs';

const speed = 'speed.bench.ts';

/**
 * Runs every packages/bench/src/*.bench.ts, or those whose names contain one of the arguments,
 * one after the other so that they do not disturb each other. Any other argument names a row of
 * the measurement `speed`. Ends with the highest exit code.
 */
export async function bench(args) {
  const files = fs.readdirSync(fromRoot('packages/bench/src')).filter((file) => file.endsWith('.bench.ts'));
  const rows = args.filter((part) => !files.some((file) => file.includes(part)));
  const chosen = files.filter((file) => args.length === 0 || args.some((part) => file.includes(part)));
  if (rows.length > 0 && !chosen.includes(speed)) chosen.push(speed);

  await bootstrap();
  await build(['web', 'server']);
  const env = programEnvironment({ ...process.env, GATEHOUSE_ENV_FILE: 'off' });
  let highest = 0;
  for (const file of chosen.sort()) {
    log(`\n${file.replace('.bench.ts', '')}`);
    highest = Math.max(
      highest,
      await launch([nodeBinary(), fromRoot('packages/bench/src', file), ...(file === speed ? rows : [])], { env })
        .exited,
    );
  }
  await endAll(highest);
}
