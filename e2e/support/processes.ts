import fs from 'node:fs';

/** Kills a process and everything that it started with -9, at one moment, as a power cut would. Linux alone. */
export function killAll(pid: number): void {
  for (const each of withDescendants(pid)) kill(each);
}

/** A process and everything that it started, the elder first. */
export function withDescendants(pid: number): number[] {
  const listed = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return [pid, ...listed.flatMap(withDescendants)];
}

/** What it was started as; empty for one that has ended. */
export function commandOf(pid: number): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended with its parent.
  }
}
