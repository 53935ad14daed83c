import fs from 'node:fs';

/** Kills a process and everything that it started with -9, at one moment, as a power cut would. Linux alone. */
export function killAll(pid: number): void {
  for (const each of [pid, ...descendants(pid)]) kill(each);
}

function descendants(pid: number): number[] {
  const listed = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return listed.flatMap((each) => [each, ...descendants(each)]);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended with its parent.
  }
}
