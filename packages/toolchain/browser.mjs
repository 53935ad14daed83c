import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { bundledBrowser } from './bundled-browser.mjs';
import { UserError } from './log.mjs';
import { fromRoot } from './paths.mjs';

const systemBrowsers = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * The browser for the tests, in this order: CHROMIUM_PATH, the system's, the one
 * that npm carries (Linux on x64), Playwright's own. e2e/playwright.config.ts gets
 * it by these variables:
 *
 *   CHROMIUM_PATH             the program
 *   CHROMIUM_LD_LIBRARY_PATH  where its shared libraries are, when it brings them
 *   CHROMIUM_FONTCONFIG_PATH  where its fonts are, when the system has none
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

/** {executablePath, env, args}. Throws a sentence when there is none that starts. */
export async function findBrowser(environment) {
  // Chromium refuses its sandbox to root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const named = environment.CHROMIUM_PATH;
  if (named && !starts(named))
    throw new UserError(`CHROMIUM_PATH is ${named}, which does not start: name another, or unset it.`);

  const executablePath = named || systemBrowsers.map(onPath).find((each) => each && starts(each));
  if (executablePath) return { executablePath, env: {}, args };

  const bundled = await bundledBrowser();
  if (bundled && starts(bundled.executablePath, bundled.env)) return { ...bundled, args: ['--no-sandbox'] };

  const own = playwrightsOwn();
  if (own && starts(own)) return { executablePath: own, env: {}, args };

  throw new UserError(
    'There is no browser for the browser tests. Install Chromium (Debian: apt-get install chromium), or set CHROMIUM_PATH to one.',
  );
}

/** Where a program is: Playwright wants a path, not a name. */
function onPath(program) {
  if (path.isAbsolute(program)) return program;
  const places = (process.env.PATH ?? '').split(path.delimiter).map((folder) => path.join(folder, program));
  return places.find((each) => fs.existsSync(each));
}

/** Asks it for its version: a snap's stub or a missing shared library shows here. */
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
    const { chromium } = createRequire(fromRoot('e2e', 'package.json'))('@playwright/test');
    return fs.existsSync(chromium.executablePath()) ? chromium.executablePath() : null;
  } catch {
    return null;
  }
}
