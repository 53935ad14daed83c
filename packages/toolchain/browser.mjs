import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fromRoot, installTools, nodeBinary } from './bootstrap.mjs';
import { log, UserError } from './log.mjs';
import { run } from './processes.mjs';

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
const bundledVersion = '147.0.0';

/**
 * Returns the variables that tell e2e/playwright.config.ts which browser to use. The browser is the first of
 * these that starts: CHROMIUM_PATH, the system's headless shell, the one on npm (Linux on x64), the
 * system's Chromium or Chrome, Playwright's own.
 *
 *   CHROMIUM_PATH             the executable
 *   CHROMIUM_LD_LIBRARY_PATH  its shared libraries, if it brings them
 *   CHROMIUM_FONTCONFIG_PATH  its fonts, if the system has none
 *   CHROMIUM_ARGS             flags, separated by spaces: --no-sandbox or nothing
 *
 * @throws UserError if none starts.
 */
export async function browserEnvironment(environment) {
  const browser = await findBrowser(environment);
  // As root Chromium does not start with its sandbox.
  const isRoot = process.getuid?.() === 0;
  return {
    CHROMIUM_PATH: browser.executablePath,
    CHROMIUM_LD_LIBRARY_PATH: browser.env?.LD_LIBRARY_PATH ?? '',
    CHROMIUM_FONTCONFIG_PATH: browser.env?.FONTCONFIG_PATH ?? '',
    CHROMIUM_ARGS: isRoot || browser.env !== undefined ? '--no-sandbox' : '',
  };
}

async function findBrowser({ CHROMIUM_PATH: named }) {
  if (named && !starts(named))
    throw new UserError(`CHROMIUM_PATH is ${named}, which does not start: name another, or unset it.`);

  const shell = named || firstThatStarts(systemShells);
  if (shell) return { executablePath: shell };

  const bundled = await bundledBrowser();
  if (bundled && starts(bundled.executablePath, bundled.env)) return bundled;

  const other = firstThatStarts([...systemBrowsers, playwrightsOwn()]);
  if (other) return { executablePath: other };

  throw new UserError(
    'There is no browser for the browser tests. Install Chromium (Debian: apt-get install chromium), or set CHROMIUM_PATH to one.',
  );
}

function firstThatStarts(programs) {
  return programs.map(onPath).find((each) => each && starts(each));
}

/** Returns the path of a program in PATH: Playwright needs a path, not a name. */
function onPath(program) {
  if (program === null || path.isAbsolute(program)) return program;
  const candidates = (process.env.PATH ?? '').split(path.delimiter).map((folder) => path.join(folder, program));
  return candidates.find((each) => fs.existsSync(each));
}

/** Whether `--version` succeeds. It fails for a snap's stub and for missing shared libraries. */
function starts(executablePath, env = {}) {
  const options = { env: { ...process.env, ...env }, stdio: 'ignore', timeout: 20_000 };
  return spawnSync(executablePath, ['--version'], options).status === 0;
}

function playwrightsOwn() {
  try {
    return createRequire(fromRoot('e2e', 'package.json'))('@playwright/test').chromium.executablePath();
  } catch {
    return null;
  }
}

/**
 * Returns the Chromium from npm, which is unpacked once into .tools with its libraries; null on
 * platforms other than Linux x64, and if the download fails. The flags that the package suggests are
 * not used, because they disable web security.
 */
async function bundledBrowser() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null;

  const folder = fromRoot('.tools', `chromium-${bundledVersion}`);
  try {
    if (!fs.existsSync(folder)) {
      await installTools({ '@sparticuz/chromium': bundledVersion });
      await unpackInto(folder);
    }
  } catch (error) {
    log(error.message);
    return null;
  }

  // The system's fonts are preferred, so that pages look as they do for users.
  const fonts = fs.existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_PATH: `${folder}/fonts` };
  return { executablePath: `${folder}/chromium`, env: { LD_LIBRARY_PATH: `${folder}/al2023/lib`, ...fonts } };
}

/**
 * Unpacks into another folder and renames that, so that no process finds an incomplete browser. The package unpacks into
 * TMPDIR, and its shared libraries only if AWS_LAMBDA_JS_RUNTIME is set before its import.
 */
async function unpackInto(folder) {
  const unfinished = fs.mkdtempSync(`${folder}.new-`);
  const environment = { ...process.env, TMPDIR: unfinished, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' };
  const script = fromRoot('.tools', 'unpack-chromium.mjs');
  fs.writeFileSync(
    script,
    `const { default: chromium } = await import('@sparticuz/chromium'); await chromium.executablePath();`,
  );
  const { code, output } = await run([nodeBinary(), script], environment);
  if (code !== 0) {
    fs.rmSync(unfinished, { recursive: true, force: true });
    throw new Error(`The browser for the tests could not be unpacked:\n${output.trim()}`);
  }

  fs.writeFileSync(`${unfinished}/fonts/fonts.conf`, fontConfiguration(`${folder}/fonts/fonts`));
  fs.chmodSync(unfinished, 0o755);
  fs.renameSync(unfinished, folder);
}

/** Returns a font configuration for this folder, because the package's own names one below /tmp. */
function fontConfiguration(fonts) {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${fonts}</dir><dir>/usr/share/fonts</dir><cachedir>${fonts}-cache</cachedir></fontconfig>
`;
}
