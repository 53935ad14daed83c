// Compares the service with the least program that does the same work, on the same machine and database, in the
// same run. The arguments name rows; without one, all are measured. BENCH_ROUNDS and BENCH_SECONDS shorten a run.
import { compare } from './speed/compare.ts';
import { type Measurement, summarise } from './speed/measured.ts';
import { printRow, storeRows } from './speed/report.ts';
import { rows } from './speed/rows.ts';
import { measureStart } from './speed/start.ts';
import { openWorld } from './speed/world.ts';

const chosen = process.argv.slice(2);
const names = [...Object.keys(rows), 'start'];
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`There is no row ${unknown.join(', ')}. There are: ${names.join(', ')}.`);
  process.exit(1);
}
const seconds = Number(process.env.BENCH_SECONDS ?? 3);
const rounds = Number(process.env.BENCH_ROUNDS ?? 7);

const measured: Measurement[] = [];
const world = await openWorld();
try {
  for (const [name, row] of Object.entries(rows)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const product = { program: world.product, next: row.product(world) };
    const baseline = { program: row.isPage ? await world.barePage() : world.baseline, next: row.baseline(world) };
    const { connections } = row;
    const result = await compare(product, baseline, { connections, seconds, rounds, databaseUse: world.databaseUse });
    const summary = summarise(name, row, result);
    printRow(summary);
    measured.push(summary);
  }
  if (chosen.length === 0 || chosen.includes('start')) {
    const start = await measureStart(world);
    printRow(start);
    measured.push(start);
  }
} finally {
  await world.close();
}
storeRows(measured);
