import fs from 'node:fs';

/** CPU seconds that processes have used, and their resident memory in bytes. */
export type Use = { cpuSeconds: number; memoryBytes: number };

const ticksPerSecond = 100;
const pageBytes = 4096;

/** Returns what a process has used, and with `family` its children too, also those that have ended; null where there is no /proc. */
export function useOf(pid: number, { family = false } = {}): Use | null {
  const own = statOf(pid);
  if (own === null) return null;
  if (!family) return { cpuSeconds: own.ticks / ticksPerSecond, memoryBytes: own.pages * pageBytes };

  const living = childrenOf(pid).map(statOf);
  const ticks = living.reduce((sum, each) => sum + (each?.ticks ?? 0), own.ticks + own.endedTicks);
  const pages = living.reduce((sum, each) => sum + (each?.pages ?? 0), own.pages);
  return { cpuSeconds: ticks / ticksPerSecond, memoryBytes: pages * pageBytes };
}

export function childrenOf(pid: number): number[] {
  const processes = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return processes.map(Number).filter((each) => statOf(each)?.parent === pid);
}

/** Returns the CPU seconds that the whole machine has used; null where there is no /proc. */
export function machineCpuSeconds(): number | null {
  try {
    const [total = ''] = fs.readFileSync('/proc/stat', 'utf8').split('\n', 1);
    const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = total.split(/\s+/).map(Number);
    return (user + nice + system + irq + softirq) / ticksPerSecond;
  } catch {
    return null;
  }
}

/** Returns the fields after the name, which may hold spaces: proc(5). */
function statOf(pid: number) {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    const field = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent = 0, user = 0, system = 0] = [field[1], field[11], field[12]];
    return { parent, ticks: user + system, endedTicks: (field[13] ?? 0) + (field[14] ?? 0), pages: field[21] ?? 0 };
  } catch {
    return null;
  }
}
