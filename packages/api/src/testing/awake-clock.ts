const stepMilliseconds = 50;
/** What one step counts for at most, however late it is. */
const longestStepMilliseconds = 100;

/**
 * Returns a clock of the milliseconds in which this process ran, for upper bounds: while the machine stalls, nothing
 * that is measured can go on, and a stall must not fail a test.
 */
export function startAwakeClock(): () => number {
  let awake = 0;
  let last = performance.now();

  function count(): number {
    const now = performance.now();
    awake += Math.min(now - last, longestStepMilliseconds);
    last = now;
    return awake;
  }

  setInterval(count, stepMilliseconds).unref();
  return count;
}
