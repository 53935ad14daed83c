#!/usr/bin/env node
// Behind every command of package.json. It needs Node 20 and nothing else: the rest it brings itself.
import { endAll, endWithParent, isEnding } from './children.mjs';
import { Sentence, say } from './say.mjs';

const interrupted = 130;

// A command's module is read when it is asked for: `serve` needs next to nothing.
const commands = {
  start: async (args) => (await import('./start.mjs')).start(args),
  dev: async (args) => (await import('./dev.mjs')).dev(args),
  build: async () => (await import('./build-command.mjs')).buildAll(),
  serve: async () => (await import('./serve.mjs')).serve(),
  operator: async (args) => (await import('./operator.mjs')).operator(args),
  test: async (args) => (await import('./test.mjs')).test(args),
  bench: async (args) => (await import('./bench.mjs')).bench(args),
  screenshots: async (args) => (await import('./screenshots.mjs')).screenshots(args),
};

const [name, ...args] = process.argv.slice(2);
const command = commands[name];
if (!command) {
  say(`Say what to run: ${Object.keys(commands).join(', ')}.`);
  process.exit(2);
}

// Everything that start began is ended in good order by Ctrl-C: for a test run that is a failure, for it success.
if (name !== 'operator') endWithParent(['start', 'dev', 'serve'].includes(name) ? 0 : interrupted);

try {
  await command(args.filter((argument, index) => index > 0 || argument !== '--'));
} catch (error) {
  // What was ended on purpose fails too, and nobody asks why.
  if (!isEnding()) say(error instanceof Sentence ? error.message : error.stack);
  await endAll(1);
}
