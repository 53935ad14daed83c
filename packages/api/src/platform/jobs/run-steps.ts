import type { Log } from '../log.ts';

/**
 * Runs the steps of a scheduled job one after the other. A step that fails keeps no other one from running: with one
 * table locked or broken, the rows of all others would grow for ever. The job then fails, so that it is retried and
 * the alert about its last success fires.
 *
 * @throws Error that names the steps that failed; its cause is the first failure.
 */
export async function runSteps(log: Log, steps: Record<string, () => Promise<unknown>>): Promise<void> {
  const failures: { step: string; error: unknown }[] = [];
  for (const [step, run] of Object.entries(steps)) {
    try {
      await run();
    } catch (error) {
      log.warn('A step of a scheduled job failed.', { step, error });
      failures.push({ step, error });
    }
  }
  if (failures.length === 0) return;
  const names = failures.map(({ step }) => step).join(', ');
  throw new Error(`These steps failed: ${names}.`, { cause: failures[0]?.error });
}
