#!/usr/bin/env node
// The entry point of every script in package.json. Needs Node 20 and nothing else: each command installs the rest.
import { log, UserError } from './process/log.mjs';
import { endAll, endWithParent, isEnding } from './process/processes.mjs';

const interrupted = 130;

// A command's module is imported only when that command runs: `serve-command` needs almost none of them.
const commands = {
  start: async (args) => (await import('./commands/start.mjs')).start(args),
  example: async (args) => (await import('./commands/example.mjs')).example(args),
  dev: async (args) => (await import('./commands/dev.mjs')).dev(args),
  build: async () => (await import('./commands/programs.mjs')).buildAll(),
  'serve-command': async () => (await import('./commands/serve-command.mjs')).serveCommand(),
  pack: async (args) => (await import('./commands/programs.mjs')).pack(args),
  operator: async (args) => (await import('./commands/operator.mjs')).operator(args),
  test: async (args) => (await import('./commands/test.mjs')).test(args),
  'test:unit': async (args) => (await import('./commands/unit-tests.mjs')).runUnitTests(args),
  'test:pure': async (args) => (await import('./commands/unit-tests.mjs')).runPureTests(args),
  'test:e2e': async (args) => (await import('./commands/browser-tests.mjs')).runPlaywright('stories', args),
  lint: async () => (await import('./commands/developer-tools.mjs')).lint(),
  format: async (args) => (await import('./commands/developer-tools.mjs')).format(args),
  typecheck: async () => (await import('./commands/developer-tools.mjs')).typecheck(),
  'db:generate': async (args) => (await import('./commands/developer-tools.mjs')).generateMigration(args),
  bench: async (args) => (await import('./commands/programs.mjs')).bench(args),
  screenshots: async (args) => (await import('./commands/browser-tests.mjs')).runPlaywright('screenshots', args),
};
const endsBySignalInSuccess = ['start', 'example', 'dev'];
const ownsTerminal = ['operator', 'db:generate'];

const [name, ...args] = process.argv.slice(2);
const command = commands[name];
if (!command) {
  log(`Name the command to run: ${Object.keys(commands).join(', ')}.`);
  process.exit(2);
}

if (!ownsTerminal.includes(name)) endWithParent(endsBySignalInSuccess.includes(name) ? 0 : interrupted);

try {
  await command(args.filter((argument, index) => index > 0 || argument !== '--'));
} catch (error) {
  // While the command is ending on a signal, its errors are consequences of that.
  if (!isEnding()) log(error instanceof UserError ? error.message : error.stack);
  await endAll(1);
}
