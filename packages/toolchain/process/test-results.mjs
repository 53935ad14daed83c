import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { readJson } from './read-json.mjs';

/**
 * Counts the tests in vitest's JSON report. A file that could not be loaded counts as one failure. Each failure is the
 * test's name with the beginning of its message.
 */
export function countVitest(file, exitCode) {
  const files = readJson(file)?.testResults ?? [];
  const tests = files.flatMap(({ name, assertionResults }) => assertionResults.map((test) => ({ name, ...test })));
  const unloaded = files.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failures = [
    ...tests
      .filter(({ status }) => status === 'failed')
      .map(({ name, fullName, failureMessages }) =>
        describe(`${path.relative('.', name)} › ${fullName}`, failureMessages.join('\n')),
      ),
    ...unloaded.map(({ name, message }) => describe(path.relative('.', name), message)),
  ];
  return resultOf(tests.filter(({ status }) => status === 'passed').length, failures, exitCode);
}

/** Counts the tests in Playwright's JSON report. A flaky test counts as a failure. */
export function countPlaywright(file, exitCode) {
  const report = readJson(file);
  const specs = (report?.suites ?? []).flatMap(specsOf);
  const failures = specs
    .filter(({ ok, tests }) => !ok || tests.some(({ status }) => status === 'flaky'))
    .map(({ file: name, title, tests }) => {
      const errors = tests.flatMap(({ results }) => results.flatMap((result) => result.errors));
      return describe(`e2e/${name} › ${title}`, errors.map(({ message }) => message).join('\n'));
    });
  return resultOf(report?.stats?.expected ?? 0, failures, exitCode);
}

function specsOf({ specs = [], suites = [] }) {
  return [...specs, ...suites.flatMap(specsOf)];
}

function describe(name, message = '') {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.includes('node_modules'));
  return [name, ...lines.slice(0, 8).map((line) => `    ${line}`)].join('\n');
}

/** Counts a run that failed without a failed test (a crash, an error outside of tests) as one failure. */
function resultOf(passed, failures, exitCode) {
  if (exitCode === 0 || failures.length > 0) return { passed, failures };
  return { passed, failures: [`The run ended with ${exitCode}, outside of any test.`] };
}
