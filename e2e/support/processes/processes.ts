import fs from 'node:fs';

/**
 * Kills a process and its descendants with SIGKILL at the same moment, as a power failure would.
 * Linux only.
 */
export function killAll(pid: number): void {
  for (const each of withDescendants(pid)) kill(each);
}

/** Returns a process and its descendants, parents first. */
export function withDescendants(pid: number): number[] {
  const listed = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return [pid, ...listed.flatMap(withDescendants)];
}

/** Returns the command line of a process; empty if it has ended. */
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
