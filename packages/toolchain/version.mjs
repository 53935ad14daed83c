import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { fromRoot } from './bootstrap.mjs';

/**
 * The version that a build tells: that of package.json where its tag is on this commit, else the same, which is the next
 * one, with -dev.COMMIT (and .changed, if files differ from the commit). Without a repository: GATEHOUSE_VERSION, else
 * -dev alone.
 */
export function buildVersion() {
  if (process.env.GATEHOUSE_VERSION) return process.env.GATEHOUSE_VERSION;
  const { version } = JSON.parse(fs.readFileSync(fromRoot('package.json'), 'utf8'));
  const commit = git('rev-parse', '--short=12', 'HEAD');
  if (commit === null) return `${version}-dev`;

  const changed = git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '.changed';
  const isTagged = git('tag', '--points-at', 'HEAD')?.split('\n').includes(`v${version}`);
  return isTagged && changed === '' ? version : `${version}-dev.${commit}${changed}`;
}

/** The time of the commit, in seconds since the epoch: what is packed from one commit is equal byte by byte. */
export function commitSeconds() {
  return process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct') ?? undefined;
}

function git(...words) {
  try {
    return execFileSync('git', words, {
      cwd: fromRoot('.'),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}
