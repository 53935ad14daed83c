/**
 * Returns the time in milliseconds since 1970, as the clock of the machine showed it when the process started, and steady
 * since. pg-boss waits by it: where the clock was set back by an hour, jobs of a schedule stopped for an hour. It takes
 * the time of the schedules from the database and compares the two each minute.
 */
export function steadyTime(): number {
  return Math.round(performance.timeOrigin + performance.now());
}
