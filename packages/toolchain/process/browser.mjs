import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { bundledBrowser } from '../install/bundled-browser.mjs';
import { UserError } from './log.mjs';
import { fromRoot } from './paths.mjs';

// Chromium without its windows needs a third of the CPU time of Chromium with them.
const systemShells = ['chromium-headless-shell', 'chrome-headless-shell'];
const systemBrowsers = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * Returns the variables that tell e2e/playwright.config.ts which browser to use. The browser is the first of
 * these that starts: CHROMIUM_PATH, the system's headless shell, the one on npm (Linux on x64), the
 * system's Chromium or Chrome, Playwright's own.
 *
 *   CHROMIUM_PATH             the executable
 *   CHROMIUM_LD_LIBRARY_PATH  its shared libraries, if it brings them
 *   CHROMIUM_FONTCONFIG_PATH  its fonts, if the system has none
 *   CHROMIUM_ARGS             flags, separated by spaces: --no-sandbox or nothing
 */
export async function browserEnvironment(environment) {
  const browser = await findBrowser(environment);
  return {
    CHROMIUM_PATH: browser.executablePath,
    CHROMIUM_LD_LIBRARY_PATH: browser.env.LD_LIBRARY_PATH ?? '',
    CHROMIUM_FONTCONFIG_PATH: browser.env.FONTCONFIG_PATH ?? '',
    CHROMIUM_ARGS: browser.args.join(' '),
  };
}

/** Returns the first browser that starts. @throws UserError if none does. */
async function findBrowser(environment) {
  // As root Chromium does not start with its sandbox.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const named = environment.CHROMIUM_PATH;
  if (named && !starts(named))
    throw new UserError(`CHROMIUM_PATH is ${named}, which does not start: name another, or unset it.`);

  const shell = named || firstThatStarts(systemShells);
  if (shell) return { executablePath: shell, env: {}, args };

  const bundled = await bundledBrowser();
  if (bundled && starts(bundled.executablePath, bundled.env)) return { ...bundled, args: ['--no-sandbox'] };

  const other = firstThatStarts([...systemBrowsers, playwrightsOwn()]);
  if (other) return { executablePath: other, env: {}, args };

  throw new UserError(
    'There is no browser for the browser tests. Install Chromium (Debian: apt-get install chromium), or set CHROMIUM_PATH to one.',
  );
}

function firstThatStarts(programs) {
  return programs.map(onPath).find((each) => each && starts(each));
}

/** Returns the path of a program in PATH: Playwright needs a path, not a name. */
function onPath(program) {
  if (program === null) return undefined;
  if (path.isAbsolute(program)) return program;
  const candidates = (process.env.PATH ?? '').split(path.delimiter).map((folder) => path.join(folder, program));
  return candidates.find((each) => fs.existsSync(each));
}

/** Whether `--version` succeeds. It fails for a snap's stub and for missing shared libraries. */
function starts(executablePath, env = {}) {
  const { status } = spawnSync(executablePath, ['--version'], {
    env: { ...process.env, ...env },
    stdio: 'ignore',
    timeout: 20_000,
  });
  return status === 0;
}

function playwrightsOwn() {
  try {
    return createRequire(fromRoot('e2e', 'package.json'))('@playwright/test').chromium.executablePath();
  } catch {
    return null;
  }
}
