/**
 * Calls `end` once, at the first SIGTERM or SIGINT. With GATEHOUSE_PARENT_PIPE=1
 * also when the standard input ends, which it does however the parent ends; it
 * has to be asked for, because a standard input of /dev/null has always ended.
 */
export function onShutdownSignal(end: (reason: string) => Promise<void>): void {
  let ending = false;
  function once(reason: string) {
    if (ending) return;
    ending = true;
    end(reason);
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => once(signal));
  if (process.env.GATEHOUSE_PARENT_PIPE !== '1') return;

  process.stdin.resume();
  process.stdin.once('error', () => once('parent'));
  process.stdin.once('close', () => once('parent'));
}
