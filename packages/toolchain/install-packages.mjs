import { explainInstallFailure } from './explain-install-failure.mjs';
import { log } from './log.mjs';
import { run } from './processes.mjs';

const patienceMilliseconds = 40_000;

/**
 * Installs what the lockfile says. Without a network pnpm would try each package
 * again for minutes: it is ended when nothing has arrived for a while.
 */
export async function installPackages(environment) {
  let stuck = null;
  let told = false;
  let arrived = '';

  function read(printed, child) {
    const [progress] = printed.match(/downloaded \d+/g)?.slice(-1) ?? [arrived];
    if (progress !== arrived) {
      clearTimeout(stuck);
      stuck = null;
    }
    arrived = progress;
    if (!/will retry/i.test(printed)) return;

    if (!told) log('The npm registry does not answer; trying again for a while.');
    told = true;
    stuck ??= setTimeout(() => child.end(), patienceMilliseconds);
  }

  // CI: pnpm asks nothing and keeps to the lockfile.
  const { code, output } = await run(['pnpm', 'install', '--frozen-lockfile'], { ...environment, CI: 'true' }, read);
  clearTimeout(stuck);
  if (code !== 0) throw explainInstallFailure(output);
}
