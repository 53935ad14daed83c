import fs from 'node:fs';
import { bootstrap, nodeBinary } from './bootstrap.mjs';
import { build } from './build.mjs';
import { endAll, launch } from './children.mjs';
import { place } from './places.mjs';
import { Sentence, say } from './say.mjs';
import { programEnvironment } from './surroundings.mjs';

/**
 * Runs every packages/bench/src/*.bench.ts, one after the other so that none
 * disturbs another, or those whose names hold one of the arguments. Fails when
 * one of them does.
 */
export async function bench(args) {
  const files = fs.readdirSync(place('packages/bench/src')).filter((file) => file.endsWith('.bench.ts'));
  const chosen = files.filter((file) => args.length === 0 || args.some((part) => file.includes(part))).sort();
  if (chosen.length === 0) throw new Sentence(`There is no such measurement. There are: ${files.join(', ')}.`);

  await bootstrap();
  await build(['web', 'server']);
  const env = programEnvironment({ ...process.env, GATEHOUSE_ENV_FILE: 'off' });
  let worst = 0;
  for (const file of chosen) {
    say(`\n${file.replace('.bench.ts', '')}`);
    worst = Math.max(worst, await launch([nodeBinary(), place('packages/bench/src', file)], { env }).exited);
  }
  await endAll(worst);
}
