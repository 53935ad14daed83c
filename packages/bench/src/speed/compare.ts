import { type Figures, load, type Request } from './load.ts';
import { machineCpuSeconds, type Use } from './process-use.ts';
import type { Program } from './program.ts';
import { spread } from './spread.ts';

/** One side of a row: a program and the requests that it gets. */
type Side = { program: Program; next: () => Request };

export type Round = Figures & {
  /** CPU per request, in milliseconds; null where there is no /proc. */
  serverCpu: number | null;
  databaseCpu: number | null;
  memoryMiB: number | null;
};

export type Comparison = {
  product: Round[];
  baseline: Round[];
  /** The product's requests per second, by the baseline's of the same round. */
  ratios: number[];
  /** The part of the machine's CPU that processes other than the bench's used. */
  foreignCpu: number | null;
};

type Options = { connections: number; seconds: number; rounds: number; databaseUse: () => Use | null };

/** Measures both sides in turn, round by round, so that both see the same load of the machine. The first round warms up. */
export async function compare(product: Side, baseline: Side, options: Options): Promise<Comparison> {
  const comparison: Comparison = { product: [], baseline: [], ratios: [], foreignCpu: null };
  const foreign: number[] = [];
  for (let round = 0; round <= options.rounds; round++) {
    // Each goes first in every other round.
    const order = round % 2 === 0 ? (['baseline', 'product'] as const) : (['product', 'baseline'] as const);
    const of = {} as Record<'product' | 'baseline', Round>;
    for (const name of order) {
      const { measured, foreignCpu } = await measure(name === 'product' ? product : baseline, options);
      of[name] = measured;
      if (foreignCpu !== null && round > 0) foreign.push(foreignCpu);
    }
    if (round === 0) continue;
    comparison.product.push(of.product);
    comparison.baseline.push(of.baseline);
    comparison.ratios.push(of.product.perSecond / of.baseline.perSecond);
  }
  comparison.foreignCpu = foreign.length === 0 ? null : spread(foreign).median;
  return comparison;
}

async function measure({ program, next }: Side, { connections, seconds, databaseUse }: Options) {
  const before = {
    server: program.use(),
    database: databaseUse(),
    own: process.cpuUsage(),
    machine: machineCpuSeconds(),
  };
  const started = performance.now();
  const figures = await load(program.origin, next, { connections, seconds });
  const requests = figures.perSecond * seconds;
  const [server, database] = [program.use(), databaseUse()];
  const machine = machineCpuSeconds();
  const { user, system } = process.cpuUsage(before.own);

  const [serverSeconds, databaseSeconds] = [used(before.server, server), used(before.database, database)];
  const measured: Round = {
    ...figures,
    serverCpu: serverSeconds === null ? null : (serverSeconds * 1000) / requests,
    databaseCpu: databaseSeconds === null ? null : (databaseSeconds * 1000) / requests,
    memoryMiB: server === null ? null : server.memoryBytes / 2 ** 20,
  };
  if (machine === null || before.machine === null) return { measured, foreignCpu: null };
  const benchSeconds = (serverSeconds ?? 0) + (databaseSeconds ?? 0) + (user + system) / 1e6;
  const elapsed = (performance.now() - started) / 1000;
  return { measured, foreignCpu: Math.max(0, machine - before.machine - benchSeconds) / elapsed };
}

function used(before: Use | null, after: Use | null): number | null {
  return before === null || after === null ? null : after.cpuSeconds - before.cpuSeconds;
}
