// Compares two nodes on one database with one node. Each node is pinned to a core of its own, because two nodes on the
// same cores would share them. The database and the load use the same cores too, so a row that loads the database
// more scales less than on separate machines. BENCH_ROUNDS and BENCH_SECONDS shorten a run.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { load, type Request } from './speed/load.ts';
import type { Program } from './speed/program.ts';
import { type Row, rows } from './speed/rows.ts';
import { type Spread, spread } from './speed/spread.ts';
import { openWorld } from './speed/world.ts';

const wanted = 1.6;
const seconds = Number(process.env.BENCH_SECONDS ?? 3);
const rounds = Number(process.env.BENCH_ROUNDS ?? 5);

type Measurement = { title: string; one: Spread; two: Spread; ratio: Spread; cpu: { one: number; two: number } };

/** Rows of the measurement of speed, and whether they ask for the ratio: a node alone computes them. */
const measures: { name: string; connections: number; isWanted: boolean }[] = [
  { name: 'page', connections: 32, isWanted: true },
  { name: 'login', connections: 8, isWanted: true },
  { name: 'session', connections: 32, isWanted: false },
  { name: 'webhook', connections: 32, isWanted: false },
];

if (os.availableParallelism() < 2) throw new Error('Two nodes need two cores.');
const world = await openWorld();
const nodes = [world.product, await world.startProduct()];
const measured: Measurement[] = [];
let enough = true;
try {
  for (const [core, { pid }] of nodes.entries()) pin(pid, core);
  for (const { name, connections, isWanted } of measures) {
    const { title, product } = rows[name] as Row;
    const row = await measure(title, connections, product(world));
    measured.push(row);
    if (isWanted) enough &&= row.ratio.median >= wanted;
    console.log(
      `${title}: ${row.one.median.toFixed(0)} a second with one node, ${row.two.median.toFixed(0)} with two, ` +
        `${row.ratio.median.toFixed(2)} times (${row.ratio.min.toFixed(2)}–${row.ratio.max.toFixed(2)}` +
        `${isWanted ? `; asked ${wanted}` : ''}); CPU per request of a node ` +
        `${row.cpu.one.toFixed(3)} and ${row.cpu.two.toFixed(3)} ms`,
    );
  }
} finally {
  await nodes[1]?.stop();
  await world.close();
}
const file = path.resolve(import.meta.dirname, '../results/scaling.json');
fs.mkdirSync(path.dirname(file), { recursive: true });
fs.writeFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), rows: measured }, null, 2)}\n`);
process.exitCode = enough ? 0 : 1;

/** Measures one node and two in turn, round by round. The first round warms up. */
async function measure(title: string, connections: number, next: () => Request): Promise<Measurement> {
  const found = { one: [] as Figures[], two: [] as Figures[] };
  for (let round = 0; round <= rounds; round++) {
    const one = await send(nodes.slice(0, 1), connections, next);
    const two = await send(nodes, connections, next);
    if (round === 0) continue;
    found.one.push(one);
    found.two.push(two);
  }
  const ratios = found.two.map(({ perSecond }, round) => perSecond / (found.one[round]?.perSecond ?? Number.NaN));
  const of = (figures: Figures[], name: keyof Figures) => spread(figures.map((each) => each[name]));
  return {
    title,
    one: of(found.one, 'perSecond'),
    two: of(found.two, 'perSecond'),
    ratio: spread(ratios),
    cpu: { one: of(found.one, 'cpu').median, two: of(found.two, 'cpu').median },
  };
}

/** `cpu` in milliseconds per request. */
type Figures = { perSecond: number; cpu: number };

async function send(programs: Program[], connections: number, next: () => Request): Promise<Figures> {
  const used = () => programs.reduce((sum, program) => sum + (program.use()?.cpuSeconds ?? Number.NaN), 0);
  const before = used();
  const all = await Promise.all(
    programs.map(({ origin }) => load(origin, next, { connections: connections / programs.length, seconds })),
  );
  const perSecond = all.reduce((sum, each) => sum + each.perSecond, 0);
  return { perSecond, cpu: ((used() - before) * 1000) / (perSecond * seconds) };
}

/** Pins all threads of a process to a core. */
function pin(pid: number, core: number): void {
  const { status, stderr } = spawnSync('taskset', ['-acp', String(core), String(pid)], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`taskset (util-linux) is needed. ${stderr}`);
}
