/** Calls `end` once, at the first SIGTERM or SIGINT, and where npm started the process, when npm ends. */
export function onShutdownSignal(end: (reason: string) => Promise<void>): void {
  let ending = false;
  function once(reason: string) {
    if (ending) return;
    ending = true;
    end(reason);
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => once(signal));
  if (process.env.npm_lifecycle_event) watchParent(() => once('parent'));
}

/** Calls back when the parent ends: with npm the service ends too, also after kill -9. Otherwise its port would stay in use. */
function watchParent(callback: () => void): void {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && callback(), 500).unref();
}
