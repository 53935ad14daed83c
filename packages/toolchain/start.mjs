import { bootstrap, nodeBinary } from './bootstrap.mjs';
import { build } from './build.mjs';
import { configurePortal, createDemoAccounts } from './create-demo-accounts.mjs';
import { prepareDataDirectory } from './data-directory.mjs';
import { requireLoopback, startEnvironment, userEnvironment } from './environment.mjs';
import { log, step } from './log.mjs';
import { fromRoot } from './paths.mjs';
import { choosePort } from './ports.mjs';
import { endAll, isEnding, launch } from './processes.mjs';
import { recordRunningDemo } from './running-demo.mjs';
import { waitUntilReady } from './wait-until-ready.mjs';
import { welcome } from './welcome.mjs';

/** Everything on this machine: the built service and, beside it, the sandbox that stands in for the world. */
export async function start(flags) {
  const { port, environment, dataDir } = await prepare();
  await build(['web', 'server']);
  await runBeside([nodeBinary(), fromRoot('apps/server/dist/main.js')], {
    port,
    environment,
    dataDir,
    demo: !flags.includes('--no-demo'),
  });
}

/** What start and dev need before anything runs: a port, an environment, packages, a data directory. */
export async function prepare() {
  const persons = userEnvironment();
  requireLoopback(persons);
  const port = await choosePort(persons);
  const dataDir = prepareDataDirectory(persons);
  await bootstrap();
  return { port, dataDir, environment: startEnvironment(port, persons, dataDir) };
}

/** Runs the sandbox and the service, a command, until one of them ends or this is told to, then ends both. */
export async function runBeside(service, { port, environment, dataDir, demo }) {
  recordRunningDemo({ port, dataDir });
  const options = { env: environment, stdio: ['pipe', 'pipe'], ours: true };
  const sandbox = collect(launch([nodeBinary(), fromRoot('packages/sandbox/src/main.ts')], options));
  const main = collect(launch(service, options));
  watchOver('sandbox', sandbox);
  watchOver('service', main);

  await step('Starting', () => waitUntilReady(port, sandbox, () => isEnding()));
  if (isEnding()) return;

  const accounts = demo ? await step('Making the demo accounts', () => makeDemo({ port, environment, dataDir })) : [];
  if (isEnding()) return;

  process.stdout.write(welcome({ port, dataDir, accounts }));
  for (const child of [sandbox, main]) child.show();
}

/** The demo accounts, and beside them the portal's configuration at the sandbox, as an operator makes it. */
async function makeDemo({ port, environment, dataDir }) {
  const [accounts] = await Promise.all([
    createDemoAccounts({ port, environment, dataDir }),
    configurePortal({ port, environment }),
  ]);
  return accounts;
}

/** Holds back what a child prints until it is asked for, so that the welcome stands first. */
function collect(child) {
  child.printed = '';
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    from.on('data', (bytes) => {
      if (child.shown) to.write(bytes);
      else child.printed += bytes;
    });
  }
  child.show = () => {
    child.shown = true;
    process.stdout.write(child.printed.replace(/^ready.*\n/m, ''));
  };
  return child;
}

async function watchOver(name, child) {
  const code = await child.exited;
  if (isEnding()) return;

  // Before the welcome it has said itself why it could not start.
  if (!child.shown) process.stderr.write(child.printed);
  else log(`The ${name} ended by itself (exit code ${code}). Start again with npm start: what was answered is kept.`);
  endAll(1);
}
