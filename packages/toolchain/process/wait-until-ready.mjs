import { setTimeout as pause } from 'node:timers/promises';
import { UserError } from './log.mjs';

const timeoutSeconds = 120;

/**
 * Waits until the sandbox reports that it is ready and GET /readyz answers 200. Resolves to false if
 * `isOver` becomes true first.
 *
 * @throws UserError after 120 s.
 */
export async function waitUntilReady(port, sandbox, isOver) {
  const until = Date.now() + timeoutSeconds * 1000;
  while (!isOver()) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    if (answer?.status === 200 && /^ready\b|\bready$/im.test(sandbox.printed)) return true;
    if (Date.now() > until) throw new UserError(`The service did not become ready within ${timeoutSeconds} s.`);
    await pause(50);
  }
  return false;
}
