import type { Comparison, Round } from './compare.ts';
import { type Spread, spread } from './spread.ts';

type SideFigures = {
  perSecond: Spread;
  p50Milliseconds: number;
  p95Milliseconds: number;
  /** CPU per request in milliseconds; null where there is no /proc. */
  serverCpu: number | null;
  databaseCpu: number | null;
  memoryMiB: number | null;
};

/** A row of the table as it is stored. */
export type Measurement = {
  name: string;
  title: string;
  /** The service's figure by the baseline's; of a row without a baseline, what is asked by what it takes. */
  ratio: Spread;
  wanted: number;
  aim: number;
  product?: SideFigures;
  baseline?: SideFigures;
  /** The baseline's CPU per request by the service's, server and database together. Other work on the machine changes it least. */
  cpuRatio?: number | null;
  /** The range of the baseline's rounds by their median, and the CPU that other processes used, in cores. */
  noise?: { baselineSpread: number; foreignCpu: number | null };
  /** What a row without requests measured, in words. */
  figures?: string;
};

export function summarise(
  name: string,
  row: { title: string; wanted: number; aim: number },
  result: Comparison,
): Measurement {
  const [product, baseline] = [figuresOf(result.product), figuresOf(result.baseline)];
  const { min, max, median: middle } = baseline.perSecond;
  return {
    name,
    title: row.title,
    ratio: spread(result.ratios),
    wanted: row.wanted,
    aim: row.aim,
    product,
    baseline,
    cpuRatio: ratioOf(cpuOf(baseline), cpuOf(product)),
    noise: { baselineSpread: (max - min) / middle, foreignCpu: result.foreignCpu },
  };
}

/** Whether the machine changed so much during a row that its ratio may be wrong by more than a tenth. */
export function isNoisy({ baselineSpread, foreignCpu }: NonNullable<Measurement['noise']>): boolean {
  return baselineSpread > 0.15 || (foreignCpu ?? 0) > 0.15;
}

function figuresOf(rounds: Round[]): SideFigures {
  function of(pick: (round: Round) => number | null): number | null {
    const values = rounds.map(pick).filter((value) => value !== null);
    return values.length === 0 ? null : spread(values).median;
  }
  return {
    perSecond: spread(rounds.map(({ perSecond }) => perSecond)),
    p50Milliseconds: of(({ p50 }) => p50) ?? Number.NaN,
    p95Milliseconds: of(({ p95 }) => p95) ?? Number.NaN,
    serverCpu: of(({ serverCpu }) => serverCpu),
    databaseCpu: of(({ databaseCpu }) => databaseCpu),
    memoryMiB: of(({ memoryMiB }) => memoryMiB),
  };
}

function cpuOf({ serverCpu, databaseCpu }: SideFigures): number | null {
  return serverCpu === null || databaseCpu === null ? null : serverCpu + databaseCpu;
}

function ratioOf(one: number | null, other: number | null): number | null {
  return one === null || other === null || other === 0 ? null : one / other;
}
