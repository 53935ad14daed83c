import { UserError } from '../process/log.mjs';

const causes = [
  [
    /ENOSPC|no space left/i,
    'There is no space left on this disk for the packages: free about 1.5 GB, then run this again.',
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|META_FETCH_FAIL|network|dns error|error sending request/i,
    'The packages could not be fetched: the npm registry does not answer. Check the network (or the proxy in .npmrc), then run this again.',
  ],
  [
    /EACCES|EPERM|EROFS|permission denied/i,
    'This folder cannot be written by this user: run as its owner, or clone the repository again.',
  ],
  [
    /OUTDATED_LOCKFILE|frozen-lockfile/i,
    'pnpm-lock.yaml does not fit the package.json files: run pnpm install and commit the lockfile.',
  ],
  [/npm: (command )?not found/i, 'There is no npm in PATH: install Node.js 20 or later, which brings it.'],
  [
    /node-(darwin|win32|linux)-\w+.*(404|not found|notarget)|(404|notarget).*node-/is,
    'There is no Node for this platform on npm: install Node.js 24 yourself, then run this again.',
  ],
];

/** Turns the output of npm or pnpm into a UserError: a known cause with its remedy, or the last lines of the output. */
export function explainInstallFailure(output) {
  const known = causes.find(([pattern]) => pattern.test(output));
  const tail = output.trim().split('\n').slice(-15).join('\n');
  return new UserError(known ? known[1] : `The packages could not be installed:\n${tail}`);
}
