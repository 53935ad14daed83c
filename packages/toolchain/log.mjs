/** An expected failure: one sentence that says what to do. It is printed without a stack. */
export class UserError extends Error {}

/** Prints progress to stderr: a command's stdout carries only its own output. */
export function log(text) {
  process.stderr.write(`${text}\n`);
}

/** Runs a long step and prints its name, its duration, and whether it succeeded. Several steps may run at once. */
export async function step(name, work) {
  const started = performance.now();
  log(`${name} …`);
  let mark = '✗';
  try {
    const result = await work();
    mark = '✓';
    return result;
  } finally {
    log(`${mark} ${name}  ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }
}
