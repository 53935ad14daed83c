import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { bootstrap } from './bootstrap.mjs';
import { browserEnvironment } from './browser.mjs';
import { build } from './build.mjs';
import { endAll, isEnding, launch, run } from './children.mjs';
import { countPlaywright, countVitest } from './counts.mjs';
import { say, step } from './say.mjs';
import { playwrightCommand } from './screenshots.mjs';
import { programEnvironment } from './surroundings.mjs';

const importsCommand = ['node_modules/.bin/depcruise', '--config', '.dependency-cruiser.mjs', 'apps', 'packages'];

/**
 * Everything there is to know about whether this works. A failure stops nothing
 * but what depends on it, so that one run tells all. The last line is the sum.
 */
export async function test() {
  await bootstrap();
  const reports = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-reports-'));
  const environment = programEnvironment({ ...process.env, NODE_ENV: 'test', GATEHOUSE_ENV_FILE: 'off' });
  const results = [];

  const colours = process.stderr.isTTY ? 'force' : 'off';
  results.push(
    await quiet('Lint and format', ['node_modules/.bin/biome', 'ci', `--colors=${colours}`, '.'], environment),
  );
  results.push(await quiet('Imports', importsCommand, environment));
  results.push(await quiet('Types', ['pnpm', '--recursive', '--no-bail', 'check'], environment));
  results.push(await vitest(path.join(reports, 'vitest.json'), environment));
  const built = await countOne('The build', () => build(['web', 'server', 'client']));
  results.push(built);
  if (built.failures.length > 0) say('The browser tests are left out: there is no build for them.');
  else results.push(await playwright(path.join(reports, 'playwright.json'), environment));

  fs.rmSync(reports, { recursive: true, force: true });
  if (isEnding()) return;
  const passed = results.reduce((total, result) => total + result.passed, 0);
  const failures = results.flatMap((result) => result.failures);
  // Said once more at the end: it is what somebody reads of a long output, and all that some keep of it.
  for (const failure of failures) process.stdout.write(`\nFailed: ${failure}\n`);
  process.stdout.write(`\n${passed} passed, ${failures.length} failed\n`);
  await endAll(failures.length === 0 && passed > 0 ? 0 : 1);
}

/** A step that counts as one test, and shows what it printed only when it fails. */
function quiet(name, command, environment) {
  return countOne(name, () =>
    step(name, async () => {
      const { code, output } = await run(command, environment);
      if (code !== 0) throw new Error(`${output.trim()}\n${name}: failed.`);
    }),
  );
}

async function countOne(name, work) {
  try {
    await work();
    return { passed: 1, failures: [] };
  } catch (error) {
    if (!isEnding()) say(error.message);
    return { passed: 0, failures: [`${name}, as said above.`] };
  }
}

async function vitest(report, environment) {
  say('Unit and integration tests …');
  const config = ['--config', 'packages/toolchain/vitest.config.ts'];
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const code = await launch(['node_modules/.bin/vitest', 'run', ...config, ...reporters], { env: environment }).exited;
  return countVitest(report, code);
}

async function playwright(report, environment) {
  say('Browser tests …');
  try {
    const env = { ...environment, ...(await browserEnvironment(process.env)), PLAYWRIGHT_JSON_OUTPUT_NAME: report };
    const command = [...playwrightCommand, '--project=stories', '--reporter=list,json'];
    const code = await launch(command, { env }).exited;
    return countPlaywright(report, code);
  } catch (error) {
    say(error.message);
    return { passed: 0, failures: [`The browser tests: ${error.message}`] };
  }
}
