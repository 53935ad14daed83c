import { setTimeout as pause } from 'node:timers/promises';
import { Sentence } from './say.mjs';

const patienceSeconds = 120;

/** Waits until the sandbox has said so and the service answers GET /readyz with 200. False where it is over before. */
export async function untilReady(port, sandbox, isOver) {
  const until = Date.now() + patienceSeconds * 1000;
  while (!isOver()) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    if (answer?.status === 200 && /^ready\b|\bready$/im.test(sandbox.printed)) return true;
    if (Date.now() > until) throw new Sentence(`The service did not become ready within ${patienceSeconds} s.`);
    await pause(50);
  }
  return false;
}
