import { log } from '../process/log.mjs';
import { run } from '../process/processes.mjs';
import { explainInstallFailure } from './explain-install-failure.mjs';

const stuckTimeoutMilliseconds = 40_000;

/**
 * Installs the packages of the lockfile. Without a network pnpm retries each package for minutes, so
 * it is ended after 40 s without progress.
 *
 * @throws UserError if the installation fails.
 */
export async function installPackages(environment) {
  let stuck = null;
  let hasLogged = false;
  let lastProgress = '';

  function read(printed, child) {
    const [progress] = printed.match(/downloaded \d+/g)?.slice(-1) ?? [lastProgress];
    if (progress !== lastProgress) {
      clearTimeout(stuck);
      stuck = null;
    }
    lastProgress = progress;
    if (!/will retry/i.test(printed)) return;

    if (!hasLogged) log('The npm registry does not answer; trying again for a while.');
    hasLogged = true;
    stuck ??= setTimeout(() => child.end(), stuckTimeoutMilliseconds);
  }

  // With CI set, pnpm asks no questions.
  const { code, output } = await run(['pnpm', 'install', '--frozen-lockfile'], { ...environment, CI: 'true' }, read);
  clearTimeout(stuck);
  if (code !== 0) throw explainInstallFailure(output);
}
