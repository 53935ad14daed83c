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
 * run shows all failures. The last lines of the output name each of them, and count passed and failed.
 */
async function runEverything() {
  const reports = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-reports-'));
  // Meanwhile, because a fresh clone fetches it.
  const browser = browserEnvironment(process.env);
  browser.catch(() => {});
  const built = check('build', () => build('api', 'web', 'server', 'client', 'sandbox', 'testing'));
  const checks = [
    built,
    runScript('lint'),
    runScript('typecheck:packages'),
    // The build of the pages and this one write the same folder.
    built.then(() => runScript('typecheck:pages')),
  ];
  const results = await Promise.all(checks);
  const isUsable = (await built).failures.length === 0;
  // One after the other: side by side each took the caches of the other, and both together took longer.
  results.push(await runUnitTests(path.join(reports, 'vitest.json'), isUsable ? isBuilt : {}));
  if (!isEnding()) results.push(await runStories(path.join(reports, 'playwright.json'), browser, !isUsable));

  fs.rmSync(reports, { recursive: true, force: true });
  if (isEnding()) return;
  const passed = results.reduce((total, result) => total + result.passed, 0);
  const failures = results.flatMap((result) => result.failures);
  const named = failures.map((failure) => `✗ ${failure}\n`).join('');
  process.stdout.write(`\n${named}${passed} passed, ${failures.length} failed\n`);
  await endAll(failures.length === 0 && passed > 0 ? 0 : 1);
}

/** Runs a script of package.json as one test, and shows its output only if it fails. */
function runScript(name) {
  return check(name, () =>
    step(name, async () => {
      const { code, output } = await run(['pnpm', '--silent', name], testEnvironment());
      if (code !== 0) throw new Error(`${output.trim()}\n${name}: failed.`);
    }),
  );
}

async function check(name, work) {
  try {
    await work();
    return { passed: 1, failures: [] };
  } catch (error) {
    if (!isEnding()) log(error.message);
    return { passed: 0, failures: [name] };
  }
}

async function runUnitTests(report, variables) {
  log('Unit and integration tests …');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const command = ['pnpm', 'test:unit', ...reporters];
  const code = await launch(command, { env: { ...testEnvironment(), ...variables } }).exited;
  const { numPassedTests = 0, testResults = [] } = read(report);
  return resultOf('unit tests', numPassedTests, failedTests(testResults), code);
}

async function runStories(report, browser, buildFailed) {
  if (buildFailed) {
    log('The browser tests are not run, because the build failed.');
    return { passed: 0, failures: [] };
  }

  log('Browser tests …');
  try {
    const env = { ...testEnvironment(), ...isBuilt, ...(await browser), PLAYWRIGHT_JSON_OUTPUT_NAME: report };
    const code = await launch(['pnpm', '--dir', 'e2e', 'test', '--reporter=list,json'], { env }).exited;
    const { stats = { expected: 0 }, suites = [] } = read(report);
    return resultOf('browser tests', stats.expected, failedStories(suites), code);
  } catch (error) {
    log(error.message);
    return { passed: 0, failures: ['browser tests'] };
  }
}

/** A run that failed without a failed test (a crash, an error between tests) is one failure, by its kind's name. */
function resultOf(kind, passed, failures, exitCode) {
  return { passed, failures: exitCode !== 0 && failures.length === 0 ? [kind] : failures };
}

/** Names the failed tests of vitest's report, and the files that could not be loaded. */
function failedTests(files) {
  return files.flatMap(({ name, status, assertionResults }) => {
    const file = path.relative(process.cwd(), name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length === 0) return status === 'failed' ? [file] : [];
    return failed.map((test) => `${file} › ${test.fullName}`);
  });
}

/** Names the failed tests of Playwright's report, those that passed when tried again included. */
function failedStories(suites) {
  return suites.flatMap(({ file, specs = [], suites: inner = [] }) => [
    ...specs
      .filter((spec) => spec.tests.some(({ status }) => status === 'unexpected' || status === 'flaky'))
      .map((spec) => `e2e/${file} › ${spec.title}`),
    ...failedStories(inner),
  ]);
}

/** Returns a runner's report; an empty one if it wrote none. */
function read(report) {
  return fs.existsSync(report) ? JSON.parse(fs.readFileSync(report, 'utf8')) : {};
}
