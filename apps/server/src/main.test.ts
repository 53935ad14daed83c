import { version } from '@gatehouse/api/platform/config-version';
import { runProgram } from '@gatehouse/embedded-postgres/testing/program';
import { expect, it } from 'vitest';

async function run(...args: string[]) {
  // A service that started would end with 1 because of this port.
  const { ended, output } = runProgram(new URL('main.ts', import.meta.url), args, { PORT: 'none' });
  return { code: (await ended).code, output: output() };
}

it('starts no service with arguments, of which it knows --version alone', async () => {
  const [known, ...unknown] = await Promise.all([run('--version'), run('--help'), run('--version', 'x')]);
  expect(known).toEqual({ code: 0, output: `${version}\n` });
  const output = 'The service takes no arguments but --version: its settings are environment variables.\n';
  expect(unknown).toEqual([
    { code: 2, output },
    { code: 2, output },
  ]);
});
