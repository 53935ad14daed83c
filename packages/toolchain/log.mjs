import { performance } from 'node:perf_hooks';

/** What went wrong in one sentence that says what to do. It is printed without a stack. */
export class UserError extends Error {}

/** Progress goes to stderr: a command's stdout carries its own output alone. */
export function log(text) {
  process.stderr.write(`${text}\n`);
}

/** Runs a long step and shows that it runs, for how long, and whether it was done: it was not where it throws or answers false. */
export async function step(name, work) {
  const started = performance.now();
  const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
  const live = process.stderr.isTTY;
  if (!live) log(`${name} …`);
  const ticker = live && setInterval(() => process.stderr.write(`\r\x1b[K${name} … ${seconds()}`), 100);

  try {
    const result = await work();
    clearInterval(ticker);
    if (live) process.stderr.write('\r\x1b[K');
    log(`${result === false ? '✗' : '✓'} ${name}  ${seconds()}`);
    return result;
  } catch (error) {
    clearInterval(ticker);
    if (live) process.stderr.write('\r\x1b[K');
    log(`✗ ${name}  ${seconds()}`);
    throw error;
  }
}
