import { bootstrap } from '../install/bootstrap.mjs';
import { programEnvironment } from '../process/environment.mjs';
import { endAll, isEnding, launch, runInTerminal } from '../process/processes.mjs';

const biome = 'node_modules/.bin/biome';
export const lintCommand = [biome, 'ci', '.'];
export const importsCommand = [
  'node_modules/.bin/depcruise',
  '--config',
  '.dependency-cruiser.mjs',
  'apps',
  'packages',
  'examples',
  'e2e',
];
// TypeScript 7 takes a third of the CPU time of TypeScript 6, and less with one thread than with several.
const compiler = ['node_modules/@typescript/native/bin/tsc', '--singleThreaded', '-p'];
/**
 * Makes the compiler, which svelte-check starts too, use one thread and collect its garbage less often. It then takes a
 * quarter less CPU time, and 100 MiB more.
 */
export const compilerEnvironment = { GOGC: '400', GOMAXPROCS: '1' };
/** Checks all packages as one program, because most import packages/api, whose types are then checked once. */
export const packageTypesCommand = [...compiler, 'tsconfig.packages.json'];
export const storyTypesCommand = [...compiler, 'e2e'];
export const pageTypesCommand = ['pnpm', '--filter', '@gatehouse/web', 'check'];

/** Checks lint rules, format, and which file may import which. */
export function lint() {
  return runAll([lintCommand, importsCommand]);
}

/** Formats every file, or those named, and applies the safe fixes of the linter. */
export function format(files) {
  return runAll([[biome, 'check', '--write', ...(files.length > 0 ? files : ['.'])]]);
}

/** Checks the types of every package. */
export function typecheck() {
  return runAll([packageTypesCommand, storyTypesCommand, pageTypesCommand]);
}

/** Writes a migration for the changes in packages/api/src/platform/db/schema: `npm run db:generate -- --name NAME`. */
export async function generateMigration(flags) {
  await bootstrap();
  // drizzle-kit asks whether a new column is an old one renamed.
  const command = ['pnpm', '--filter', '@gatehouse/api', 'exec', 'drizzle-kit', 'generate', ...flags];
  process.exit(await runInTerminal(command, programEnvironment(process.env)));
}

/** Runs all commands, also after one that fails, and ends this process with the highest exit code. */
async function runAll(commands) {
  await bootstrap();
  const env = { ...compilerEnvironment, ...programEnvironment(process.env) };
  let highest = 0;
  for (const command of commands) {
    if (!isEnding()) highest = Math.max(highest, await launch(command, { env }).exited);
  }
  await endAll(highest);
}
