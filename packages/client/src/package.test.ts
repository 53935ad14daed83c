import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const exec = promisify(execFile);
const cwd = fileURLToPath(new URL('..', import.meta.url));
const run = (tool: string, ...args: string[]) => exec('npx', [tool, ...args], { cwd });

it('builds a package that publint and attw accept, without an import of Node or of another package', async () => {
  await run('tsdown');
  await run('publint', '--strict', '.');
  await run('attw', '--pack', '.', '--profile', 'esm-only');
  for (const file of fs.globSync('dist/*.{js,d.ts}', { cwd })) {
    const text = fs.readFileSync(path.join(cwd, file), 'utf8');
    const imported = [...text.matchAll(/^(?:import|export) .*from "([^"]+)"/gm)].map(([, from]) => from);
    expect(imported.filter((from) => !from?.startsWith('./'))).toEqual([]);
  }
}, 120_000);
