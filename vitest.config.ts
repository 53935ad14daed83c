import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { useMemoryFolder } from './packages/toolchain/memory-folder.mjs';

useMemoryFolder();

/** What needs a database is called so: *.db.test.ts. Every other test runs without one. */
const withDatabase = ['packages/*/src/**/*.db.test.ts', 'apps/*/src/**/*.db.test.ts'];
const all = ['packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts'];
/** What runs the built service, each test with a database of its own (packages/testing). */
const onBuild = ['packages/testing/src/**/*.test.ts', 'examples/*/src/**/*.test.ts'];
const cheapPasswordHash = fileURLToPath(new URL('packages/api/src/testing/cheap-password-hash.ts', import.meta.url));

/** Small files that take five seconds and more: they start a server, or wait for one. */
const slowest = [
  'dev rolling-restart operator checkout-during-failure health start-checkout watch-connections link-orders mail-counts',
  'partial-failure confirm-payment scheduled-jobs sync-round start-queue shutdown readiness mail-survives',
  'taken-jobs',
].flatMap((names) => names.split(' '));

/** vitest starts large files first. A small slow one at the end would leave the other workers without work. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlowest = ({ moduleId }: TestSpecification) =>
      slowest.some((name) => moduleId.endsWith(`/${name}.db.test.ts`));
    return [...sorted.filter(isSlowest), ...sorted.filter((file) => !isSlowest(file))];
  }
}

export default defineConfig({
  // The application's own extends one that only its build generates.
  tsconfig: 'tsconfig.base.json',
  // The module that Kit's build puts in its place.
  resolve: { alias: { '$app/server': '@sveltejs/kit/internal/server' } },
  test: {
    // Importing the same modules again for each file took half of the time. Test files share no other state.
    isolate: false,
    // Tests allocate much and keep little: a larger space for new objects saves a twentieth of the time.
    execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=64'],
    sequence: { sequencer: SlowestFirst },
    // One worker more than cores: some tests wait, for a mail server that does not answer or a slow provider.
    maxWorkers: os.availableParallelism() + 1,
    // A test waits for an event, never for a time. These limits end what hangs, also on a machine under load.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      { extends: true, test: { name: 'pure', include: all, exclude: [...withDatabase, ...onBuild] } },
      {
        extends: true,
        resolve: { alias: { '@node-rs/argon2': cheapPasswordHash } },
        test: {
          name: 'integration',
          include: withDatabase,
          globalSetup: ['packages/toolchain/test-database.ts'],
        },
      },
      { extends: true, test: { name: 'built', include: onBuild, globalSetup: ['packages/toolchain/test-build.ts'] } },
    ],
  },
});
