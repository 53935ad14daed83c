import { bootstrap } from '../install/bootstrap.mjs';
import { build, everyBuild, isBuilt } from '../install/build.mjs';
import { browserEnvironment } from '../process/browser.mjs';
import { testEnvironment } from '../process/environment.mjs';
import { endAll, launch } from '../process/processes.mjs';

const playwrightCommand = ['e2e/node_modules/.bin/playwright', 'test', '--config=e2e/playwright.config.ts'];

/**
 * Runs a project of e2e/playwright.config.ts on the production build: `stories`, the browser tests, or `screenshots`, which
 * writes a picture of every page into e2e/pictures. Playwright's arguments choose some of it (a path, `-g NAME`).
 */
export async function runPlaywright(project, args) {
  await bootstrap();
  await build(everyBuild);
  await endAll(await launchPlaywright(project, args, await browserEnvironment(process.env)));
}

/** Runs Playwright on an existing build, with the variables that name the browser. Resolves to its exit code. */
export async function launchPlaywright(project, args, variables) {
  // Node itself loads TypeScript; Playwright's own loader would compile every module in each of its processes.
  const loader = { PW_DISABLE_TS_ESM: '1' };
  const env = { ...testEnvironment(), ...loader, ...isBuilt, ...variables };
  return launch([...playwrightCommand, `--project=${project}`, ...args], { env }).exited;
}
