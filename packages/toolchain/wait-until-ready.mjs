import { setTimeout as pause } from 'node:timers/promises';
import { UserError } from './log.mjs';

const patienceSeconds = 120;

/** Waits until the sandbox has said so and the service answers GET /readyz with 200. False where it is over before. */
export async function waitUntilReady(port, sandbox, isOver) {
  const until = Date.now() + patienceSeconds * 1000;
  while (!isOver()) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    if (answer?.status === 200 && /^ready\b|\bready$/im.test(sandbox.printed)) return true;
    if (Date.now() > until) throw new UserError(`The service did not become ready within ${patienceSeconds} s.`);
    await pause(50);
  }
  return false;
}
