import fs from 'node:fs';
import { log } from '../process/log.mjs';
import { fromRoot } from '../process/paths.mjs';
import { run } from '../process/processes.mjs';
import { installTools, nodeBinary } from './bootstrap.mjs';

const version = '147.0.0';

// The package unpacks into TMPDIR, and only unpacks its shared libraries if AWS_LAMBDA_JS_RUNTIME is set before its import.
const unpack = `const { default: chromium } = await import('@sparticuz/chromium'); await chromium.executablePath();`;
const lambda = 'nodejs24.x';

/**
 * Returns the Chromium from npm, which is unpacked once into .tools with its libraries; null on
 * platforms other than Linux x64, and if the download fails. The flags that the package suggests are
 * not used, because they disable web security.
 */
export async function bundledBrowser() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null;

  const folder = fromRoot('.tools', `chromium-${version}`);
  try {
    if (!fs.existsSync(folder)) {
      await installTools(`Fetching Chromium ${version} for the browser tests (once, 67 MB)`, {
        '@sparticuz/chromium': version,
      });
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

/** Unpacks into another folder and renames that, so that no process finds an incomplete browser. */
async function unpackInto(folder) {
  const unfinished = fs.mkdtempSync(`${folder}.new-`);
  const environment = { ...process.env, TMPDIR: unfinished, AWS_LAMBDA_JS_RUNTIME: lambda };
  const script = fromRoot('.tools', 'unpack-chromium.mjs');
  fs.writeFileSync(script, unpack);
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
