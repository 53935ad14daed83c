import path from 'node:path';
import { createDemoAccounts } from '../../sandbox/demo/create-demo-accounts.mjs';
import { bootstrap, nodeBinary } from '../install/bootstrap.mjs';
import { build, builds } from '../install/build.mjs';
import { prepareDataDirectory } from '../process/data-directory.mjs';
import { requireLoopback, serviceOptions, startEnvironment, userEnvironment } from '../process/environment.mjs';
import { log, step } from '../process/log.mjs';
import { fromRoot } from '../process/paths.mjs';
import { choosePort } from '../process/ports.mjs';
import { endAll, isEnding, launch, run } from '../process/processes.mjs';
import { recordRunningDemo } from '../process/running-demo.mjs';
import { sandboxSecrets, writePrivate } from '../process/sandbox-secrets.mjs';
import { waitUntilReady } from '../process/wait-until-ready.mjs';
import { welcome } from '../process/welcome.mjs';

/**
 * `npm start`: runs the built service with the sandbox, which replaces the identity provider, payment
 * provider and mail server, and `product` beside them: see example.mjs.
 */
export async function start(flags, product = null) {
  const { port, environment, dataDir } = await prepare(product ?? {});
  await build(['web', 'server', 'sandbox', ...(product === null ? [] : ['client'])]);
  await runWithSandbox([nodeBinary(), ...serviceOptions, fromRoot(builds.server.entry)], {
    port,
    environment,
    dataDir,
    demo: !flags.includes('--no-demo'),
    product,
  });
}

/** Prepares `start` and `dev`: port, data directory, packages, environment. */
export async function prepare({ ports = 3, variables = () => ({}) } = {}) {
  const user = userEnvironment();
  requireLoopback(user);
  const port = await choosePort(user, ports);
  const dataDir = prepareDataDirectory(user);
  await bootstrap();
  return { port, dataDir, environment: startEnvironment(port, { ...variables(port), ...user }, dataDir) };
}

/** Runs the sandbox and the service (a command) until one of them ends or this process gets a signal, then ends both. */
export async function runWithSandbox(service, { port, environment, dataDir, demo, product = null }) {
  recordRunningDemo({ port, dataDir });
  const options = { env: environment, stdio: ['pipe', 'pipe'], ownProgram: true };
  const sandbox = withBufferedOutput(launch([nodeBinary(), fromRoot(builds.sandbox.entry)], options));
  const main = withBufferedOutput(launch(service, options));
  endWhenItEnds('sandbox', sandbox);
  endWhenItEnds('service', main);

  await step('Starting', () => waitUntilReady(port, sandbox, () => isEnding()));
  if (isEnding()) return;

  const accounts = demo
    ? await step('Creating the demo accounts', () => createDemo({ port, environment, dataDir }))
    : [];
  if (isEnding()) return;

  process.stdout.write(welcome({ port, dataDir, accounts }));
  for (const child of [sandbox, main]) child.show();
  if (product !== null) endWhenItEnds('product', await product.launch({ port, environment, dataDir }));
}

/** Creates the demo accounts, and configures the sandbox's portal as an operator would. */
async function createDemo({ port, environment, dataDir }) {
  async function operator(args) {
    const { code, output } = await run([nodeBinary(), fromRoot('apps/server/dist/operator.js'), ...args], environment);
    if (code !== 0) throw new Error(`operator ${args.join(' ')}: ${output.trim()}`);
    return output;
  }

  const file = path.join(dataDir, 'sandbox', 'demo-accounts.json');
  const passwordsOf = (addresses) => sandboxSecrets(dataDir, addresses).passwords;
  const [accounts] = await Promise.all([
    createDemoAccounts({ port, file, passwordsOf, writePrivate, operator, log }),
    configurePortal({ port, environment, operator }),
  ]);
  return accounts;
}

/**
 * Has `billing-setup` configure the portal, so that a change of plan is charged as in
 * production. Only for the sandbox: elsewhere it would create products in the provider's account.
 */
async function configurePortal({ port, environment, operator }) {
  if (environment.PAYMENT_API_URL !== `http://localhost:${port + 1}`) return;
  await operator(['billing-setup']).catch((error) =>
    log(`The payment portal could not be configured: ${error.message}`),
  );
}

/** Buffers a child's output until `show` is called, so that the welcome is printed first. */
function withBufferedOutput(child) {
  child.printed = '';
  child.shown = false;
  for (const stream of ['stdout', 'stderr']) {
    child[stream].on('data', (bytes) => {
      if (child.shown) process[stream].write(bytes);
      else child.printed += bytes;
    });
  }
  child.show = () => {
    child.shown = true;
    process.stdout.write(child.printed.replace(/^ready.*\n/m, ''));
  };
  return child;
}

async function endWhenItEnds(name, child) {
  const code = await child.exited;
  if (isEnding()) return;

  // A child that ends before the welcome has printed its reason.
  if (child.shown === false) process.stderr.write(child.printed);
  else log(`The ${name} ended unexpectedly (exit code ${code}). Start again with npm start: stored data is kept.`);
  endAll(1);
}
