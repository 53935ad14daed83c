import os from 'node:os';
import { defineConfig } from '@playwright/test';
import { browserEnvironment } from '../packages/toolchain/browser.mjs';

// Each worker reads this file again, and inherits what the first process found.
if (process.env.CHROMIUM_ARGS === undefined) Object.assign(process.env, await browserEnvironment(process.env));
const { CHROMIUM_PATH, CHROMIUM_ARGS, CHROMIUM_LD_LIBRARY_PATH, CHROMIUM_FONTCONFIG_PATH } = process.env;

// Chromium sets these while its threads start. To add a variable moves the environment, and a thread that reads it at
// that moment ends the browser by a segmentation fault; to set one that is there moves nothing.
const setByChromium = { DBUS_SESSION_BUS_ADDRESS: 'disabled:', FC_FONTATIONS: '1' };

const environment = {
  ...setByChromium,
  ...process.env,
  ...(CHROMIUM_LD_LIBRARY_PATH ? { LD_LIBRARY_PATH: CHROMIUM_LD_LIBRARY_PATH } : {}),
  ...(CHROMIUM_FONTCONFIG_PATH ? { FONTCONFIG_PATH: CHROMIUM_FONTCONFIG_PATH } : {}),
} as Record<string, string>;

export default defineConfig({
  testDir: '.',
  outputDir: 'test-results',
  globalSetup: './support/processes/data-directory.ts',
  // Each worker has its own browser and service, and the unit tests fill the time in which they wait: with more
  // workers the processes displaced each other's caches, and the same tests took up to a sixth more of a processor.
  workers: os.availableParallelism(),
  fullyParallel: false,
  retries: 0,
  // A test waits for an event, never for a time. These limits end what hangs, also on a machine under load.
  timeout: 300_000,
  expect: { timeout: 30_000 },
  forbidOnly: Boolean(process.env.CI),
  use: {
    browserName: 'chromium',
    locale: 'en-GB',
    timezoneId: 'Europe/London',
    screenshot: 'only-on-failure',
    // Recording one costs as much as the test itself: `npm test -- e2e/stories/X.spec.ts --trace on` writes it.
    trace: 'off',
    launchOptions: {
      ...(CHROMIUM_PATH ? { executablePath: CHROMIUM_PATH } : {}),
      // A page lives for seconds: to optimise the code of axe took longer than it saved.
      args: [...(CHROMIUM_ARGS ?? '').split(' ').filter(Boolean), '--js-flags=--max-opt=1'],
      env: environment,
    },
  },
  projects: [
    { name: 'stories', testMatch: /\.(spec|test)\.ts$/ },
    { name: 'screenshots', testMatch: /screenshots\.ts$/, timeout: 300_000 },
  ],
});
