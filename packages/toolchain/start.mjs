import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createDemoAccounts } from '../sandbox/demo/create-demo-accounts.mjs';
import { bootstrap, fromRoot, nodeBinary } from './bootstrap.mjs';
import { choosePort, prepareDataDirectory, recordRunningDemo } from './demo.mjs';
import { requireLoopback, serviceOptions, startEnvironment, userEnvironment } from './environment.mjs';
import { log, step, UserError } from './log.mjs';
import { endAll, isEnding, launch, run } from './processes.mjs';
import { build, operatorProgram, serviceProgram } from './programs.mjs';
import { sandboxSecrets, writePrivate } from './sandbox-secrets.mjs';

const startSeconds = 120;
/** The service drains for 25 s at most. */
const graceSeconds = 26;

/**
 * `npm start`: runs the built service with the sandbox, which replaces the identity provider, payment
 * provider and mail server, and `product` beside them: see example.mjs.
 */
export async function start(flags, product = null) {
  const prepared = await prepare(product ?? {});
  await build('api', 'web', 'server', 'sandbox', ...(product === null ? [] : ['client']));
  const service = [nodeBinary(), ...serviceOptions, serviceProgram];
  await runWithSandbox(service, { ...prepared, demo: !flags.includes('--no-demo'), product });
}

/** `npm run dev`: does what `start` does, but serves the pages from their sources, with hot reload. */
export async function dev(flags) {
  const { environment, ...prepared } = await prepare();
  // The admin commands, which create the demo accounts, are part of this build.
  await build('server', 'sandbox');
  const service = [nodeBinary(), fromRoot('apps/server/src/dev.ts')];
  const development = { ...environment, NODE_ENV: 'development' };
  await runWithSandbox(service, { ...prepared, environment: development, demo: !flags.includes('--no-demo') });
}

/** Prepares `start` and `dev`: port, data directory, packages, environment. */
async function prepare({ ports = 3, variables = () => ({}) } = {}) {
  const user = userEnvironment();
  requireLoopback(user);
  const port = await choosePort(user, ports);
  const dataDir = prepareDataDirectory(user);
  await bootstrap();
  return { port, dataDir, environment: startEnvironment(port, { ...variables(port), ...user }, dataDir) };
}

/** Runs the sandbox and the service (a command) until one of them ends or this process gets a signal, then ends both. */
async function runWithSandbox(service, { port, environment, dataDir, demo, product = null }) {
  recordRunningDemo({ port, dataDir, publicBaseUrl: environment.PUBLIC_BASE_URL });
  const options = { env: environment, stdio: ['pipe', 'pipe'], graceSeconds };
  const sandbox = withBufferedOutput(launch([nodeBinary(), fromRoot('packages/sandbox/dist/main.js')], options));
  const main = withBufferedOutput(launch(service, options));
  endWhenItEnds('sandbox', sandbox);
  endWhenItEnds('service', main);

  await step('Starting', () => waitUntilReady(port, sandbox));
  if (isEnding()) return;

  const accounts = demo
    ? await step('Creating the demo accounts', () => createDemo({ port, environment, dataDir }))
    : [];
  if (isEnding()) return;

  process.stdout.write(welcome({ url: environment.PUBLIC_BASE_URL, port, dataDir, accounts }));
  for (const child of [sandbox, main]) child.show();
  if (product !== null) endWhenItEnds('product', await product.launch({ port, environment, dataDir }));
}

/** Waits until the sandbox has printed that it is ready and GET /readyz answers 200. @throws UserError after a timeout. */
async function waitUntilReady(port, sandbox) {
  const until = Date.now() + startSeconds * 1000;
  while (!isEnding()) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    if (answer?.status === 200 && /^ready$/m.test(sandbox.printed)) return;
    if (Date.now() > until) throw new UserError(`The service did not become ready within ${startSeconds} s.`);
    await pause(50);
  }
}

/** Creates the demo accounts, and configures the sandbox's portal as an operator would. */
async function createDemo({ port, environment, dataDir }) {
  async function operator(args) {
    const { code, output } = await run([nodeBinary(), operatorProgram, ...args], environment);
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

/** Returns the text that is printed after the start: URLs, demo accounts, how to stop. */
function welcome({ url, port, dataDir, accounts }) {
  const sandbox = `http://localhost:${port + 1}`;
  const width = Math.max(...accounts.map(({ email }) => email.length), 0) + 2;
  const rows = accounts.map(({ email, password, note }) => `    ${email.padEnd(width)}${password.padEnd(20)}${note}`);
  const inRepository = path.relative(fromRoot(), dataDir);
  return [
    '',
    '  Gatehouse is up.',
    '',
    `    Service   ${url}`,
    `    Sandbox   ${sandbox}   identity provider, payment provider`,
    `    Mailbox   ${sandbox}/mailbox   all mail of the service`,
    ...(rows.length > 0 ? ['', '  Demo accounts, in this sandbox only', ...rows] : []),
    '',
    `  Ctrl-C stops everything; the data stays in ${inRepository.startsWith('..') ? dataDir : inRepository}.`,
    '',
    '',
  ].join('\n');
}
