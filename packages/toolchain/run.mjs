#!/usr/bin/env node
// The entry point of the scripts that must work in a fresh clone. Each command installs what it needs.
import './require-node.mjs';
import { log, UserError } from './log.mjs';
import { endAll, endWithParent, isEnding } from './processes.mjs';

const interrupted = 130;

// A command's module is imported only when that command runs: `serve-command` needs almost none of them.
const commands = {
  start: async (args) => (await import('./start.mjs')).start(args),
  example: async (args) => (await import('./example.mjs')).example(args),
  sandbox: async (args) => (await import('./sandbox.mjs')).sandbox(args),
  dev: async (args) => (await import('./start.mjs')).dev(args),
  build: async () => (await import('./programs.mjs')).buildService(),
  'serve-command': async () => (await import('./programs.mjs')).serveCommand(),
  operator: async (args) => (await import('./programs.mjs')).operator(args),
  pack: async (args) => (await import('./programs.mjs')).pack(args),
  bench: async (args) => (await import('./programs.mjs')).bench(args),
  test: async (args) => (await import('./test.mjs')).test(args),
};
const endsBySignalInSuccess = ['start', 'example', 'sandbox', 'dev'];

const [name, ...args] = process.argv.slice(2);
const command = commands[name];
if (!command) {
  log(`Name the command to run: ${Object.keys(commands).join(', ')}.`);
  process.exit(2);
}

// An admin command has the terminal and its Ctrl-C.
if (name !== 'operator') endWithParent(endsBySignalInSuccess.includes(name) ? 0 : interrupted);

try {
  await command(args.filter((argument, index) => index > 0 || argument !== '--'));
} catch (error) {
  // While the command is ending on a signal, its errors are consequences of that.
  if (!isEnding()) log(error instanceof UserError ? error.message : error.stack);
  await endAll(1);
}
