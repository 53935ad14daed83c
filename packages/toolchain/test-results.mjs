import fs from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/**
 * What a part of the tests came to: how many passed, and of each that failed its
 * name with the beginning of what it said.
 *
 * @typedef {{ passed: number, failures: string[] }} Result
 */

/** Tests by vitest's JSON report; a file that could not even be loaded counts as one that failed. */
export function countVitest(file, exitCode) {
  const files = read(file)?.testResults ?? [];
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
  return settled(tests.filter(({ status }) => status === 'passed').length, failures, exitCode);
}

/** Tests by Playwright's JSON report. */
export function countPlaywright(file, exitCode) {
  const report = read(file);
  const specs = (report?.suites ?? []).flatMap(specsOf);
  const failures = specs
    .filter(({ ok, tests }) => !ok || tests.some(({ status }) => status === 'flaky'))
    .map(({ file: name, title, tests }) => {
      const errors = tests.flatMap(({ results }) => results.flatMap((result) => result.errors));
      return describe(`e2e/${name} › ${title}`, errors.map(({ message }) => message).join('\n'));
    });
  return settled(report?.stats?.expected ?? 0, failures, exitCode);
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

/** A run that failed without a failed test (a crash, an error outside of tests) is a failure all the same. */
function settled(passed, failures, exitCode) {
  if (exitCode === 0 || failures.length > 0) return { passed, failures };
  return { passed, failures: [`The run ended with ${exitCode}, outside of any test.`] };
}

function read(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
