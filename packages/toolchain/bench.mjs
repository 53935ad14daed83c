import fs from 'node:fs';
import { bootstrap, nodeBinary } from './bootstrap.mjs';
import { build } from './build.mjs';
import { programEnvironment } from './environment.mjs';
import { log, UserError } from './log.mjs';
import { fromRoot } from './paths.mjs';
import { endAll, launch } from './processes.mjs';

/**
 * Runs every packages/bench/src/*.bench.ts, one after the other so that none
 * disturbs another, or those whose names hold one of the arguments. Fails when
 * one of them does.
 */
export async function bench(args) {
  const files = fs.readdirSync(fromRoot('packages/bench/src')).filter((file) => file.endsWith('.bench.ts'));
  const chosen = files.filter((file) => args.length === 0 || args.some((part) => file.includes(part))).sort();
  if (chosen.length === 0) throw new UserError(`There is no such measurement. There are: ${files.join(', ')}.`);

  await bootstrap();
  await build(['web', 'server']);
  const env = programEnvironment({ ...process.env, GATEHOUSE_ENV_FILE: 'off' });
  let worst = 0;
  for (const file of chosen) {
    log(`\n${file.replace('.bench.ts', '')}`);
    worst = Math.max(worst, await launch([nodeBinary(), fromRoot('packages/bench/src', file)], { env }).exited);
  }
  await endAll(worst);
}
