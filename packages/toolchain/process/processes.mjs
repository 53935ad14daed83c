import { spawn } from 'node:child_process';
import { root } from './paths.mjs';

// The service drains for 25 s; the supervising shell kills other commands after 5 s.
const graceMilliseconds = { drained: 26_000, supervised: 7_000 };
const running = new Set();
let ending = null;

// Ends a command and its process group when the pipe on standard input closes. The pipe closes
// however this process ends, including kill -9.
const supervise = `
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
 * Starts a command that ends when this process does. It has its own process group, so that
 * Ctrl-C reaches only this process, which then ends its children in order. With `ownProgram` the
 * command is a program of this repository, which ends with its pipe and drains on SIGTERM; a
 * shell supervises any other command. `exited` resolves to the exit code, or to 128 and the
 * number of the signal.
 */
export function launch(command, { env, stdio = ['inherit', 'inherit'], ownProgram = false }) {
  const [file, ...args] = ownProgram ? command : ['/bin/sh', '-c', supervise, 'sh', ...command];
  const child = spawn(file, args, {
    cwd: root,
    detached: true,
    env: ownProgram ? { ...env, GATEHOUSE_PARENT_PIPE: '1' } : env,
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
  child.end = async () => {
    if (ownProgram) child.kill('SIGTERM');
    else child.stdin.destroy();
    const timeout = setTimeout(
      () => killGroup(child),
      ownProgram ? graceMilliseconds.drained : graceMilliseconds.supervised,
    );
    await child.exited;
    clearTimeout(timeout);
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
