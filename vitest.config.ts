import fs from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { useMemoryFolder } from './packages/toolchain/memory-folder.mjs';

useMemoryFolder();

const tests = ['packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts'];

// A test that mentions none of these runs without a database, a socket and a process of its own. Told by the text and
// not by the file's name, so that a test that begins to need one cannot run as a pure one by mistake.
const needsMore = /\/testing\b|testing\.ts|embedded|postgres|createApp|node:(child_process|net|http)|TEST_DATABASE_URL/;
const pureTests = fs.globSync(tests).filter((file) => !needsMore.test(fs.readFileSync(file, 'utf8')));
const cheapPasswordHash = fileURLToPath(new URL('packages/api/src/testing/cheap-password-hash.ts', import.meta.url));

/** Small files that take five seconds and more: they start a server, or wait for one. */
const slowest = [
  'dev rolling-restart operator checkout-during-failure health start-checkout watch-connections link-orders mail-counts',
  'partial-failure confirm-payment scheduled-jobs sync-round start-queue shutdown readiness update-portal mail-survives',
  'taken-jobs main',
].flatMap((names) => names.split(' '));

/** vitest starts large files first. A small slow one at the end would leave the other workers without work. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlowest = ({ moduleId }: TestSpecification) =>
      slowest.some((name) => moduleId.endsWith(`/${name}.test.ts`));
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
      { extends: true, test: { name: 'pure', include: pureTests } },
      {
        extends: true,
        resolve: { alias: { '@node-rs/argon2': cheapPasswordHash } },
        test: {
          name: 'integration',
          include: tests,
          exclude: pureTests,
          globalSetup: ['packages/toolchain/test-database.ts'],
        },
      },
    ],
  },
});
