import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const running = new Set();
let ending = null;

// Ends a command and its process group when the pipe on standard input closes: by SIGTERM, and by SIGKILL once the
// grace is over. The pipe closes however this process ends, including kill -9.
const supervise = `
grace=$1
shift
"$@" </dev/null &
pid=$!
trap "" INT TERM HUP
exec 3<&0
{
  cat <&3 >/dev/null
  kill -TERM 0
  tenths=0
  while kill -0 $pid && [ $tenths -lt \${grace}0 ]; do sleep 0.1; tenths=$((tenths + 1)); done
  [ $tenths -lt \${grace}0 ] || kill -KILL 0
} >/dev/null 2>&1 &
watcher=$!
wait $pid
code=$?
kill -KILL $watcher
exit $code`;

/**
 * Starts a command that ends when this process does. A shell supervises it in a process group of its own, so that Ctrl-C
 * reaches only this process, which then ends its children in order. `exited` resolves to the exit code, or to 128 and
 * the number of the signal.
 */
export function launch(command, { env, stdio = ['inherit', 'inherit'], graceSeconds = 5 }) {
  const child = spawn('/bin/sh', ['-c', supervise, 'sh', String(graceSeconds), ...command], {
    cwd: root,
    detached: true,
    env,
    stdio: ['pipe', ...stdio],
  });
  running.add(child);
  child.stdin.on('error', () => {});
  child.exited = new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === 'SIGKILL' ? 9 : 15)));
  }).finally(() => {
    running.delete(child);
    // Kills what the child left running. PostgreSQL has its own group and shuts down cleanly.
    killGroup(child);
    child.stdin.destroy();
  });
  child.end = () => {
    child.stdin.destroy();
    return child.exited;
  };
  return child;
}

/** Runs a command to its end and resolves to its exit code and output. */
export async function run(command, env) {
  const plain = process.stderr.isTTY ? {} : { NO_COLOR: '1' };
  const child = launch(command, { env: { ...env, ...plain }, stdio: ['pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes) => {
      output += bytes;
    });
  }
  return { code: await child.exited, output };
}

/** Runs a command that may ask questions, with the terminal and its Ctrl-C. Resolves to the exit code. */
export async function runInTerminal(command, env) {
  const [file, ...args] = command;
  const child = spawn(file, args, { cwd: root, env, stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)));
  });
}

/** Ends every child, the latest first, then this process. Later calls wait for the first one and keep its exit code. */
export function endAll(code) {
  ending ??= (async () => {
    for (const child of [...running].reverse()) await child.end();
    process.exit(code);
  })();
  return ending;
}

export function isEnding() {
  return ending !== null;
}

/** Whether the process with this id runs, of whichever user. */
export function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Ends all children and this process on a signal, and when npm ends, also by kill -9. A second
 * Ctrl-C kills them at once.
 */
export function endWithParent(code) {
  process.stdout.on('error', () => endAll(code));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (ending && signal === 'SIGINT') for (const child of running) killGroup(child);
      endAll(code);
    });
  }

  // Without npm or pnpm the parent may end on purpose (nohup, a service manager).
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && endAll(code), 300).unref();
}

function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {}
}
