import { setTimeout as pause } from 'node:timers/promises';
import { load } from './load.ts';
import type { Measurement } from './measured.ts';
import { type Row, rows } from './rows.ts';
import { spread } from './spread.ts';
import type { World } from './world.ts';

const starts = 5;
const requests = 10_000;
const idleMilliseconds = 2000;
const asked = { milliseconds: 300, idleMiB: 100, usedMiB: 200 };
const aim = { milliseconds: 220 };

/**
 * Measures the time from the start of the process to 200 on /readyz, and its memory when idle and after
 * 10,000 requests, a page and a read in turn. The ratio is that of the time that is asked to the time taken.
 */
export async function measureStart(world: World): Promise<Measurement> {
  const times: number[] = [];
  const idle: number[] = [];
  let usedMiB = Number.NaN;
  for (let start = 1; start <= starts; start++) {
    const program = await world.startProduct();
    times.push(program.startMilliseconds);
    await pause(idleMilliseconds);
    idle.push(inMiB(program.use()));
    if (start === starts) {
      const read = (rows.subscription as Row).product(world);
      let sent = 0;
      const page = { method: 'GET', path: '/login', headers: {} } as const;
      await load(program.origin, () => (sent++ % 2 === 0 ? page : read()), {
        connections: 16,
        amount: requests,
      });
      usedMiB = inMiB(program.use());
    }
    await program.stop();
  }

  const { median, min, max } = spread(times);
  return {
    name: 'start',
    title: 'process start to /readyz',
    ratio: { median: asked.milliseconds / median, min: asked.milliseconds / max, max: asked.milliseconds / min },
    wanted: 1,
    aim: asked.milliseconds / aim.milliseconds,
    figures:
      `${median.toFixed(0)} ms (${min.toFixed(0)}–${max.toFixed(0)}; asked ${asked.milliseconds}), ` +
      `idle ${spread(idle).median.toFixed(0)} MiB (asked ${asked.idleMiB}), ` +
      `after ${requests} requests ${usedMiB.toFixed(0)} MiB (asked ${asked.usedMiB})`,
  };
}

function inMiB(use: { memoryBytes: number } | null): number {
  return (use?.memoryBytes ?? Number.NaN) / 2 ** 20;
}
