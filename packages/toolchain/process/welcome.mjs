import path from 'node:path';
import { root } from './paths.mjs';

/** Returns the text that is printed after the start: URLs, demo accounts, how to stop. */
export function welcome({ port, dataDir, accounts }) {
  const sandbox = `http://localhost:${port + 1}`;
  const width = Math.max(...accounts.map(({ email }) => email.length), 0) + 2;
  const rows = accounts.map(({ email, password, note }) => `    ${email.padEnd(width)}${password.padEnd(20)}${note}`);
  return [
    '',
    '  Gatehouse is up.',
    '',
    `    Service   http://localhost:${port}`,
    `    Sandbox   ${sandbox}   identity provider, payment provider`,
    `    Mailbox   ${sandbox}/mailbox   all mail of the service`,
    ...(rows.length > 0 ? ['', '  Demo accounts, in this sandbox only', ...rows] : []),
    '',
    `  Ctrl-C stops everything; the data stays in ${dataDir.startsWith(root) ? path.relative(root, dataDir) : dataDir}.`,
    '',
    '',
  ].join('\n');
}
