import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

/** What the samples of a page take for granted: parts of the reader's own program, and what an earlier sample made. */
const given = `
import { createGatehouse, type Gatehouse, type GuardOptions, type Session } from '@gatehouse/client';
declare global {
  const session: Session;
  const request: Request;
  const storedCursor: string | undefined;
  function forget(id: string | null): void;
  function store(cursor: string): void;
}
`;

it('compiles every sample of the documents that show the client', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-samples-'));
  try {
    fs.writeFileSync(path.join(folder, 'given.ts'), given);
    const pages = ['packages/client/README.md', 'docs/integrate.md', 'README.md'];
    const files = pages.flatMap((page) => samplesOf(page).map((code, n) => write(page, n, code)));
    expect(files.length).toBeGreaterThan(9);
    fs.symlinkSync(path.join(root, 'examples/quickstarts/node_modules'), path.join(folder, 'node_modules'));
    const client = path.join(root, 'packages/client/src');
    const compilerOptions = {
      ...{ noEmit: true, strict: true, skipLibCheck: true, module: 'nodenext', target: 'es2022' },
      ...{ lib: ['es2023', 'dom', 'dom.iterable'], allowImportingTsExtensions: true, erasableSyntaxOnly: true },
      types: [path.join(root, 'node_modules/@types/node')],
      paths: {
        '@gatehouse/client': [`${client}/client.ts`],
        '@gatehouse/client/*': [`${client}/adapters/*.ts`],
        '@gatehouse/testing': [path.join(root, 'packages/testing/src/testing.ts')],
      },
    };
    fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
    fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const compiled = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    expect(compiled.stdout).toBe('');
  } finally {
    fs.rmSync(folder, { recursive: true });
  }

  function write(page: string, n: number, code: string): string {
    const needs = [
      ['createGatehouse', "import { createGatehouse } from '@gatehouse/client';"],
      ['GuardOptions', "import type { GuardOptions } from '@gatehouse/client';"],
      ['Session }', "import type { Session } from '@gatehouse/client';"],
    ].flatMap(([name = '', line = '']) => (code.includes(name) && !code.includes(line.slice(0, 12)) ? [line] : []));
    const makes = /\bgatehouse = createGatehouse/.test(code) ? '' : 'declare const gatehouse: Gatehouse;';
    const kind = makes === '' ? '' : "import type { Gatehouse } from '@gatehouse/client';";
    const file = path.join(folder, `${path.basename(page, '.md')}-${n}.ts`);
    fs.writeFileSync(file, [...needs, kind, makes, code, 'export {};'].join('\n'));
    return file;
  }
});

function samplesOf(page: string): string[] {
  const text = fs.readFileSync(path.join(root, page), 'utf8');
  return [...text.matchAll(/```(?:ts|js)\n([\s\S]*?)```/g)].map(([, code = '']) => code);
}
