/** An expected failure: one sentence that says what to do. It is printed without a stack. */
export class UserError extends Error {}

/** Prints progress to stderr: a command's stdout carries only its own output. */
export function log(text) {
  if (isLive && running.size > 0) process.stderr.write('\r\x1b[K');
  process.stderr.write(`${text}\n`);
}

const running = new Set();
const isLive = process.stderr.isTTY;

/**
 * Runs a long step and prints its name, its duration, and whether it succeeded: it failed if it
 * throws or resolves to false. Several steps may run at once.
 */
export async function step(name, work) {
  const started = performance.now();
  const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
  const entry = { text: () => `${name} … ${seconds()}` };
  if (!isLive) log(`${name} …`);
  running.add(entry);
  const ticker = isLive && setInterval(showRunning, 100);

  let mark = '✗';
  try {
    const result = await work();
    if (result !== false) mark = '✓';
    return result;
  } finally {
    clearInterval(ticker);
    log(`${mark} ${name}  ${seconds()}`);
    running.delete(entry);
  }
}

function showRunning() {
  process.stderr.write(`\r\x1b[K${[...running].map(({ text }) => text()).join('   ')}`);
}
