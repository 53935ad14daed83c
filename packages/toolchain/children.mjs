import { spawn } from 'node:child_process';
import { root } from './places.mjs';

// The service drains for 25 s; what is on a leash is killed by it after 5.
const graceMilliseconds = { drained: 26_000, leashed: 7_000 };
const living = new Set();
let ending = null;

// Runs a command with its group on a leash: a pipe that ends when this process does, by kill -9 as well.
const leash = `
"$@" </dev/null &
pid=$!
trap "" INT TERM HUP
exec 3<&0
{
  cat <&3 >/dev/null
  kill -TERM 0
  tenths=0
  while kill -0 $pid && [ $tenths -lt 50 ]; do sleep 0.1; tenths=$((tenths + 1)); done
  [ $tenths -lt 50 ] || kill -KILL 0
} >/dev/null 2>&1 &
watcher=$!
wait $pid
code=$?
kill -KILL $watcher
exit $code`;

/**
 * Starts a command that ends when this process does. It is in a group of its own,
 * so that Ctrl-C reaches this process alone and the order of ending is ours.
 * A program of ours looks after its pipe itself and drains on SIGTERM; any other
 * command is put on a leash. `exited` resolves to its exit code, 128 and more for
 * a signal.
 */
export function launch(command, { env, stdio = ['inherit', 'inherit'], ours = false }) {
  const [file, ...args] = ours ? command : ['/bin/sh', '-c', leash, 'sh', ...command];
  const child = spawn(file, args, {
    cwd: root,
    detached: true,
    env: ours ? { ...env, GATEHOUSE_PARENT_PIPE: '1' } : env,
    stdio: ['pipe', ...stdio],
  });
  living.add(child);
  child.stdin.on('error', () => {});
  child.exited = new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === 'SIGKILL' ? 9 : 15)));
  }).finally(() => {
    living.delete(child);
    // What it started itself and did not end; PostgreSQL has a group of its own and ends in good order.
    killGroup(child);
    child.stdin.destroy();
  });
  child.end = async () => {
    if (ours) child.kill('SIGTERM');
    else child.stdin.destroy();
    const late = setTimeout(() => killGroup(child), ours ? graceMilliseconds.drained : graceMilliseconds.leashed);
    await child.exited;
    clearTimeout(late);
  };
  return child;
}

/** Runs a command to its end; its output is returned, and given to `read` meanwhile, but shown only by who asks. */
export async function run(command, env, read = () => {}) {
  const plain = process.stderr.isTTY ? {} : { NO_COLOR: '1' };
  const child = launch(command, { env: { ...env, ...plain }, stdio: ['pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes) => {
      output += bytes;
      read(String(bytes), child);
    });
  }
  return { code: await child.exited, output };
}

/** Ends every child, the latest first, then this process. The first call decides. */
export function endAll(code) {
  ending ??= (async () => {
    for (const child of [...living].reverse()) await child.end();
    process.exit(code);
  })();
  return ending;
}

export function isEnding() {
  return ending !== null;
}

/**
 * Ends everything on a signal, and when npm is gone, which may have been by
 * kill -9. A second Ctrl-C does not wait.
 */
export function endWithParent(code) {
  process.stdout.on('error', () => endAll(code));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (ending && signal === 'SIGINT') for (const child of living) killGroup(child);
      endAll(code);
    });
  }

  // Outside of npm and pnpm a parent that goes away may have meant to (nohup, a service manager).
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && endAll(code), 300).unref();
}

function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {}
}
