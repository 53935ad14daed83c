import fs from 'node:fs';
import { bootstrap, fromRoot, nodeBinary, toolEnvironment } from './bootstrap.mjs';
import { operatorEnvironment } from './demo.mjs';
import { programEnvironment, serviceOptions, userEnvironment } from './environment.mjs';
import { step, UserError } from './log.mjs';
import { endAll, launch, run, runInTerminal } from './processes.mjs';
import { buildVersion, commitSeconds } from './version.mjs';

export const serviceProgram = fromRoot('apps/server/dist/main.js');
export const operatorProgram = fromRoot('apps/server/dist/operator.js');

/** The environment of the tests' programs once everything is built, so that they do not compare it with its sources. */
export const isBuilt = { GATEHOUSE_BUILT: '1' };

/**
 * Builds those of the named packages whose sources have changed: each says in its package.json what it is built from, and
 * wireit compares that. pnpm keeps their order. @throws UserError if a build fails.
 */
export async function build(...names) {
  return buildAs('', ...names);
}

/** The same with a version that the builds tell; without one they tell that of package.json, and each commit needs no build. */
async function buildAs(version, ...names) {
  if (process.env.GATEHOUSE_BUILT === '1') return;
  await step(`Building ${names.join(', ')}`, async () => {
    const filters = names.flatMap((name) => ['--filter', `@gatehouse/${name}`]);
    // A copy of each earlier output would be of use to servers of continuous integration alone.
    const env = { ...toolEnvironment(), GATEHOUSE_VERSION: version, WIREIT_CACHE: 'none', WIREIT_LOGGER: 'simple' };
    const { code, output } = await run(['pnpm', ...filters, 'build'], env);
    if (code !== 0) throw new UserError(`${output.trim().split('\n').slice(-40).join('\n')}\nThe build failed.`);
  });
}

/** `npm run build`: builds what production runs, the client, the sandbox and what products are tested with. */
export async function buildService() {
  await bootstrap();
  await buildAs(buildVersion(), 'api', 'web', 'server', 'client', 'sandbox', 'testing');
}

/**
 * Prints the command that runs the built service, for the shell of `npm run serve`: the shell becomes
 * the service, so no process of this toolchain stays beside it.
 *
 * @throws UserError if there is no build.
 */
export async function serveCommand() {
  for (const program of [fromRoot('apps/web/build/handler.js'), serviceProgram]) {
    if (!fs.existsSync(program)) throw new UserError('There is no build here: run npm run build first.');
  }
  await bootstrap();

  const { NODE_ENV, UV_THREADPOOL_SIZE, NODE_COMPILE_CACHE } = programEnvironment(process.env);
  const variables = Object.entries({ NODE_ENV, UV_THREADPOOL_SIZE, NODE_COMPILE_CACHE });
  const assignments = variables.map(([name, value]) => `${name}=${value}`);
  const command = ['env', ...assignments, nodeBinary(), ...serviceOptions, serviceProgram];
  process.stdout.write(command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' '));
}

/** Runs an admin command of the last build, and ends with its exit code. Builds first where there is none. */
export async function operator(args) {
  await bootstrap();
  if (!fs.existsSync(operatorProgram)) await build('server');

  const env = programEnvironment(operatorEnvironment(userEnvironment()));
  process.exit(await runInTerminal([nodeBinary(), operatorProgram, ...args], env));
}

/** `npm run pack`: see packages/release. */
export async function pack(args) {
  await bootstrap();
  await buildAs(buildVersion(), 'api', 'web', 'server', 'testing');
  const env = { ...toolEnvironment(), SOURCE_DATE_EPOCH: commitSeconds(), GATEHOUSE_BUILT: '1' };
  await runOnBuild('packages/release/src/pack.ts', args, env);
}

/** `npm run bench`: see packages/bench. */
export function bench(args) {
  return runOnBuild('packages/bench/src/run.ts', args);
}

/** Runs a program of another package that works on the built service, and ends with its exit code. */
async function runOnBuild(program, args, environment = process.env) {
  await bootstrap();
  if (environment.GATEHOUSE_BUILT !== '1') await build('api', 'web', 'server');
  const env = programEnvironment({ ...environment, GATEHOUSE_ENV_FILE: 'off' });
  await endAll(await launch([nodeBinary(), fromRoot(program), ...args], { env }).exited);
}
