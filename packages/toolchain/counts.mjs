import fs from 'node:fs';

/** Tests by vitest's JSON report; a file that could not even be loaded counts as one that failed. */
export function countVitest(file, exitCode) {
  const files = read(file)?.testResults ?? [];
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  const unloaded = files.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = tests.filter(({ status }) => status === 'failed').length + unloaded.length;
  return settled(tests.filter(({ status }) => status === 'passed').length, failed, exitCode);
}

/** Tests by Playwright's JSON report. */
export function countPlaywright(file, exitCode) {
  const { expected = 0, unexpected = 0, flaky = 0 } = read(file)?.stats ?? {};
  return settled(expected, unexpected + flaky, exitCode);
}

/** A run that failed without a failed test (a crash, an error outside of tests) is a failure all the same. */
function settled(passed, failed, exitCode) {
  return { passed, failed: exitCode !== 0 && failed === 0 ? 1 : failed };
}

function read(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
