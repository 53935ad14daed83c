/**
 * Calls `end` once, at the first SIGTERM or SIGINT. With GATEHOUSE_PARENT_PIPE=1 the end of the
 * standard input counts too: it closes however the parent process ends. This is opt-in, because
 * a standard input from /dev/null is closed from the start.
 */
export function onShutdownSignal(end: (reason: string) => Promise<void>): void {
  let ending = false;
  function once(reason: string) {
    if (ending) return;
    ending = true;
    end(reason);
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => once(signal));
  if (process.env.npm_lifecycle_event) watchParent(() => once('parent'));
  if (process.env.GATEHOUSE_PARENT_PIPE !== '1') return;

  process.stdin.resume();
  process.stdin.once('error', () => once('parent'));
  process.stdin.once('close', () => once('parent'));
}

/** Calls back when the parent ends: with npm the service ends too, also after kill -9. Otherwise its port would stay in use. */
function watchParent(callback: () => void): void {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && callback(), 500).unref();
}
