import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  // The application's own extends one that only its build generates.
  tsconfig: 'tsconfig.base.json',
  test: {
    include: ['packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts'],
    globalSetup: [fileURLToPath(new URL('test-database.ts', import.meta.url))],
    // Half of the time went into importing the same modules again for each file. Files share no state but modules.
    isolate: false,
    // Most of the time is waiting, for a mail server that hangs or a provider that is slow: two files wait at once.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
