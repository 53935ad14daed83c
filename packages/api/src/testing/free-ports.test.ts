import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { freePort } from './free-ports.ts';

const onLinux = process.platform === 'linux';

it.runIf(onLinux)('a port that one process chose is chosen by no other before anything listens on it', async () => {
  const taken = await freePort();
  const ours = JSON.stringify(`\0gatehouse-test-port-${taken}`);
  const script = `require('node:net').createServer().listen(${ours}).on('error', ({ code }) => console.log(code));`;
  expect(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })).toBe('EADDRINUSE\n');
});
