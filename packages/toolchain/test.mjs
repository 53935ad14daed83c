import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { bootstrap } from './bootstrap.mjs';
import { browserEnvironment } from './browser.mjs';
import { testEnvironment } from './environment.mjs';
import { log, step } from './log.mjs';
import { endAll, isEnding, launch, run } from './processes.mjs';
import { build, isBuilt } from './programs.mjs';

/** Runs all checks and tests, or those that the arguments choose: a path, and flags of its test runner. */
export async function test(args) {
  await bootstrap();
  if (args.length === 0) return runEverything();

  const isBrowserTest = args.some((argument) => /^e2e\/|\.spec\.ts\b/.test(argument));
  const command = isBrowserTest ? ['pnpm', 'test:e2e', ...args] : ['pnpm', 'test:unit', ...args];
  await endAll(await launch(command, { env: testEnvironment() }).exited);
}

/**
 * Runs every check and test. A failure skips only the steps that depend on it, so that one
 * run shows all failures. The last line of the output is the number of passed and failed.
 */
async function runEverything() {
  const reports = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-reports-'));
  // Meanwhile, because a fresh clone fetches it.
  const browser = browserEnvironment(process.env);
  browser.catch(() => {});
  const built = check(() => build('api', 'web', 'server', 'client', 'sandbox'));
  const checks = [
    built,
    runScript('lint'),
    runScript('typecheck:packages'),
    // The build of the pages and this one write the same folder.
    built.then(() => runScript('typecheck:pages')),
  ];
  const results = await Promise.all(checks);
  const isUsable = (await built).failed === 0;
  // One after the other: side by side each took the caches of the other, and both together took longer.
  results.push(await runUnitTests(path.join(reports, 'vitest.json'), isUsable ? isBuilt : {}));
  if (!isEnding()) results.push(await runStories(path.join(reports, 'playwright.json'), browser, !isUsable));

  fs.rmSync(reports, { recursive: true, force: true });
  if (isEnding()) return;
  const passed = results.reduce((total, result) => total + result.passed, 0);
  const failed = results.reduce((total, result) => total + result.failed, 0);
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  await endAll(failed === 0 && passed > 0 ? 0 : 1);
}

/** Runs a script of package.json as one test, and shows its output only if it fails. */
function runScript(name) {
  return check(() =>
    step(name, async () => {
      const { code, output } = await run(['pnpm', '--silent', name], testEnvironment());
      if (code !== 0) throw new Error(`${output.trim()}\n${name}: failed.`);
    }),
  );
}

async function check(work) {
  try {
    await work();
    return { passed: 1, failed: 0 };
  } catch (error) {
    if (!isEnding()) log(error.message);
    return { passed: 0, failed: 1 };
  }
}

async function runUnitTests(report, variables) {
  log('Unit and integration tests …');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const command = ['pnpm', 'test:unit', ...reporters];
  const code = await launch(command, { env: { ...testEnvironment(), ...variables } }).exited;
  const { numPassedTests = 0, numFailedTests = 0 } = read(report);
  return resultOf(numPassedTests, numFailedTests, code);
}

async function runStories(report, browser, buildFailed) {
  if (buildFailed) {
    log('The browser tests are not run, because the build failed.');
    return { passed: 0, failed: 0 };
  }

  log('Browser tests …');
  try {
    const env = { ...testEnvironment(), ...isBuilt, ...(await browser), PLAYWRIGHT_JSON_OUTPUT_NAME: report };
    const code = await launch(['pnpm', '--dir', 'e2e', 'test', '--reporter=list,json'], { env }).exited;
    const { expected = 0, unexpected = 0, flaky = 0 } = read(report).stats ?? {};
    return resultOf(expected, unexpected + flaky, code);
  } catch (error) {
    log(error.message);
    return { passed: 0, failed: 1 };
  }
}

/** Counts a run that failed without a failed test (a crash, a file that cannot be loaded) as one failure. */
function resultOf(passed, failed, exitCode) {
  return { passed, failed: exitCode === 0 ? failed : Math.max(1, failed) };
}

/** Returns a runner's report; an empty one if it wrote none. */
function read(report) {
  return fs.existsSync(report) ? JSON.parse(fs.readFileSync(report, 'utf8')) : {};
}
