import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chartOf } from './chart.ts';
import { isNoisy, type Measurement } from './measured.ts';
import type { Spread } from './spread.ts';

const folder = path.resolve(process.env.BENCH_RESULTS ?? path.join(import.meta.dirname, '../../results'));

/** Prints a row as soon as it is measured. */
export function printRow({
  title,
  ratio,
  wanted,
  aim,
  product,
  baseline,
  cpuRatio,
  noise,
  figures,
}: Measurement): void {
  console.log(`\n${title}`);
  console.log(
    `  ratio ${describe(ratio, 2)} (asked ${wanted}, aim ${aim.toFixed(2)})${cpuRatio ? `, by CPU ${cpuRatio.toFixed(2)}` : ''}`,
  );
  if (figures !== undefined) console.log(`  ${figures}`);
  for (const [name, side] of [
    ['service', product],
    ['baseline', baseline],
  ] as const) {
    if (side === undefined) continue;
    const times = `p50 ${side.p50Milliseconds.toFixed(1)} ms, p95 ${side.p95Milliseconds.toFixed(1)} ms`;
    const cpu = `CPU per request ${inMilliseconds(side.serverCpu)}, database ${inMilliseconds(side.databaseCpu)}`;
    console.log(
      `  ${name.padEnd(8)} ${describe(side.perSecond, 0)} a second, ${times}, ${cpu}, ${side.memoryMiB?.toFixed(0) ?? '?'} MiB`,
    );
  }
  if (noise !== undefined) {
    const foreign = noise.foreignCpu === null ? '' : `, other processes used ${noise.foreignCpu.toFixed(2)} cores`;
    console.log(
      `  ${isNoisy(noise) ? 'NOISY' : 'quiet'}: the baseline’s rounds lie ${(noise.baselineSpread * 100).toFixed(0)} % apart${foreign}`,
    );
  }
}

/** Stores the rows with those of earlier runs on this machine, as JSON and as a chart. */
export function storeRows(rows: Measurement[]): void {
  fs.mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'speed.json');
  const earlier: { rows: Measurement[] } = fs.existsSync(file)
    ? JSON.parse(fs.readFileSync(file, 'utf8'))
    : { rows: [] };
  const names = new Set(rows.map(({ name }) => name));
  const all = [...earlier.rows.filter(({ name }) => !names.has(name)), ...rows];
  const [processor] = os.cpus();
  const machine = { processor: processor?.model ?? '', cores: os.cpus().length, node: process.version };
  const at = new Date().toISOString();
  fs.writeFileSync(file, `${JSON.stringify({ at, machine, rows: all }, null, 2)}\n`);
  const note = `${at.slice(0, 10)}, ${machine.processor}, ${machine.cores} cores, Node ${machine.node}`;
  fs.writeFileSync(path.join(folder, 'speed.svg'), chartOf(all, note));
  console.log(`\nStored in ${path.relative(process.cwd(), folder)}: speed.json, speed.svg`);
}

function describe({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}

function inMilliseconds(value: number | null): string {
  return value === null ? '?' : `${value.toFixed(3)} ms`;
}
