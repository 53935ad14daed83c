import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { bootstrap } from '../install/bootstrap.mjs';
import { build, everyBuild, isBuilt } from '../install/build.mjs';
import { browserEnvironment } from '../process/browser.mjs';
import { testEnvironment } from '../process/environment.mjs';
import { log, step } from '../process/log.mjs';
import { endAll, isEnding, run } from '../process/processes.mjs';
import { countPlaywright, countVitest } from '../process/test-results.mjs';
import { launchPlaywright, runPlaywright } from './browser-tests.mjs';
import {
  compilerEnvironment,
  importsCommand,
  lintCommand,
  packageTypesCommand,
  pageTypesCommand,
  storyTypesCommand,
} from './developer-tools.mjs';
import { runUnitTests, vitestCommand } from './unit-tests.mjs';

/** Runs all checks and tests, or those that the arguments choose: a path, and flags of its test runner. */
export function test(args) {
  if (args.length === 0) return runEverything();
  const isBrowserTest = args.some((argument) => /^e2e\/|\.spec\.ts\b/.test(argument));
  return isBrowserTest ? runPlaywright('stories', args) : runUnitTests(args);
}

/**
 * Runs every check and test. A failure skips only the steps that depend on it, so that one
 * run shows all failures. The last line of the output is the number of passed and failed.
 */
async function runEverything() {
  await bootstrap();
  const reports = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-reports-'));
  const { built, checked } = startChecks();
  // Meanwhile, because a fresh clone fetches it.
  const browser = browserEnvironment(process.env);
  browser.catch(() => {});
  // Side by side, because both wait for a third of their time. The browser tests take longer, so they start first.
  const tested = [
    built.then(({ failures }) =>
      failures.length > 0 ? skipStories() : runStories(path.join(reports, 'playwright.json'), browser),
    ),
    // After the types of the pages: a test of the development server writes the folder that they are read from.
    checked.then(async () => {
      const { failures } = await built;
      return runVitest(path.join(reports, 'vitest.json'), failures.length === 0 ? isBuilt : {});
    }),
  ];
  const results = [...(await checked), ...(await Promise.all(tested))];

  fs.rmSync(reports, { recursive: true, force: true });
  if (isEnding()) return;
  const passed = results.reduce((total, result) => total + result.passed, 0);
  const failures = results.flatMap((result) => result.failures);
  // Repeated at the end, because readers and logs often keep only the end of a long output.
  for (const failure of failures) process.stdout.write(`\nFailed: ${failure}\n`);
  process.stdout.write(`\n${passed} passed, ${failures.length} failed\n`);
  await endAll(failures.length === 0 && passed > 0 ? 0 : 1);
}

/**
 * Builds, and runs the checks that start no service. `built` resolves to the result of the build, `checked` to those
 * of all checks, the build included.
 */
function startChecks() {
  const colours = process.stderr.isTTY ? 'force' : 'off';
  const builtPages = build(['web']);
  const built = countAsOneTest('The build', async () => {
    await builtPages;
    await build(everyBuild);
  });
  const checked = Promise.all([
    built,
    runQuietly('Lint and format', [...lintCommand, `--colors=${colours}`]),
    runQuietly('Imports', importsCommand),
    runQuietly('Types of the packages', packageTypesCommand),
    runQuietly('Types of the browser tests', storyTypesCommand),
    // The build of the pages and this one write the same folder.
    builtPages.catch(() => {}).then(() => runQuietly('Types of the pages', pageTypesCommand)),
  ]);
  return { built, checked };
}

/** Runs a command as one test, and shows its output only if it fails. */
function runQuietly(name, command) {
  return countAsOneTest(name, () =>
    step(name, async () => {
      const { code, output } = await run(command, { ...compilerEnvironment, ...testEnvironment() });
      if (code !== 0) throw new Error(`${output.trim()}\n${name}: failed.`);
    }),
  );
}

async function countAsOneTest(name, work) {
  try {
    await work();
    return { passed: 1, failures: [] };
  } catch (error) {
    if (!isEnding()) log(error.message);
    return { passed: 0, failures: [`${name}: see above.`] };
  }
}

/** Prints vitest's output at its end, in one piece, because the browser tests print at the same time. */
async function runVitest(report, variables) {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  let result;
  await step('Unit and integration tests', async () => {
    const { code, output } = await run([...vitestCommand, ...reporters], { ...testEnvironment(), ...variables });
    process.stdout.write(output);
    result = countVitest(report, code);
    return result.failures.length === 0;
  });
  return result;
}

function skipStories() {
  log('The browser tests are skipped, because the build failed.');
  return { passed: 0, failures: [] };
}

async function runStories(report, browser) {
  log('Browser tests …');
  try {
    const variables = { ...(await browser), PLAYWRIGHT_JSON_OUTPUT_NAME: report };
    const code = await launchPlaywright('stories', ['--reporter=list,json'], variables);
    return countPlaywright(report, code);
  } catch (error) {
    log(error.message);
    return { passed: 0, failures: [`The browser tests: ${error.message}`] };
  }
}
