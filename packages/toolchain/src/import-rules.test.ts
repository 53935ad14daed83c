import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { areas } = (await import(path.join(root, '.dependency-cruiser.mjs'))) as { areas: string[] };
const api = 'packages/api/src';
const web = 'apps/web/src';
const server = `${web}/lib/server`;

/** Each area with the one above it. */
const neighbours = areas
  .slice(0, -1)
  .map((area, at): [lower: string, upper: string] => [area, areas[at + 1] as string]);

/** An import that the rules must refuse: the file, and what it names. */
const refused: [file: string, source: string][] = [
  ...neighbours.map(([lower, upper]): [string, string] => [`${api}/${lower}/x1.ts`, `../${upper}/target.ts`]),
  ...areas.map((area): [string, string] => [`${api}/${area}/x2.ts`, '../testing/target.ts']),
  ...areas.map((area): [string, string] => [`${api}/${area}/x3.ts`, '../create-app.ts']),
  [`${api}/router/x4.ts`, '../platform/db/target.ts'],
  [`${api}/router/x5.ts`, '../platform/providers/target.ts'],
  [`${api}/of-no-area/x6.ts`, '../platform/errors.ts'],
  [`${api}/organisations/x7.ts`, '@gatehouse/api/billing/target'],
  [`${api}/billing/sync/x8.ts`, '../../members/target.ts'],
  [`${api}/billing/x9.ts`, 'oslo/crypto'],
  [`${api}/billing/x10.ts`, 'stripe'],
  [`${api}/platform/providers/x11.ts`, 'stripe'],
  [`${api}/billing/events/x36.ts`, '../../platform/providers/untrusted-json.ts'],
  [`${api}/auth/x12.ts`, 'nodemailer'],
  [`${api}/auth/sessions/x13.ts`, 'lucia'],
  [`${api}/billing/x14.ts`, '@gatehouse/sandbox/target'],
  [`${api}/audit/x15.ts`, '../../../sandbox/src/target.ts'],
  ['apps/server/src/x16.ts', '@gatehouse/sandbox/target'],
  ['apps/server/src/x17.ts', '@gatehouse/api/app'],
  ['apps/server/src/operator.ts', '@gatehouse/api/platform/db/target'],
  ['apps/server/src/commands/x18.ts', '@gatehouse/api/router/root'],
  [`${web}/hooks.server.ts`, '@gatehouse/sandbox/target'],
  [`${web}/routes/login/x19.ts`, 'drizzle-orm'],
  [`${web}/routes/login/x20.ts`, 'postgres'],
  [`${web}/routes/login/x21.ts`, '@gatehouse/api/auth/sessions/target'],
  [`${web}/routes/login/x22.ts`, '@gatehouse/api/app'],
  [`${web}/routes/auth/x23.ts`, '@gatehouse/api/auth/target'],
  [`${web}/lib/server/rest/x24.ts`, '@gatehouse/api/billing/target'],
  [`${server}/x25.ts`, '@gatehouse/api/members/leaving/target'],
  [`${server}/x26.ts`, '@gatehouse/api/auth/target'],
  [`${server}/x27.ts`, '@gatehouse/api/platform/db/target'],
  [`${server}/x28.ts`, '@gatehouse/api/testing/target'],
  [`${server}/x29.ts`, '@gatehouse/embedded-postgres/target'],
  ['packages/client/src/x30.ts', '@gatehouse/api/platform/db/target'],
  ['packages/client/src/x31.ts', '@gatehouse/api/router/root'],
  ['packages/sandbox/src/x32.ts', '@gatehouse/api/platform/errors'],
  ['packages/sandbox/src/x33.ts', '../../api/src/platform/errors.ts'],
  ['packages/payment-sandbox/src/x34.ts', '@gatehouse/sandbox/target'],
  ['packages/languages/src/x37.ts', '@gatehouse/api/platform/errors'],
  [`${web}/lib/format/x39.ts`, 'intl-messageformat'],
  ['packages/embedded-postgres/src/x35.ts', '@gatehouse/api/platform/errors'],
  ['packages/testing/src/x40.ts', 'stripe'],
  ['packages/bench/src/x41.ts', '@gatehouse/testing/target'],
];

const allowed: [file: string, source: string][] = [
  ...neighbours
    .filter(([, upper]) => upper !== 'router')
    .map(([lower, upper]): [string, string] => [`${api}/${upper}/ok1.ts`, `../${lower}/target.ts`]),
  [`${api}/router/ok2.ts`, '../operators/target.ts'],
  [`${api}/audit/ok3.ts`, '../platform/errors.ts'],
  [`${api}/platform/security/ok4.ts`, 'oslo/encoding'],
  [`${api}/platform/providers/payment/ok8.ts`, 'stripe'],
  [`${api}/platform/providers/payment/ok9.ts`, '../untrusted-json.ts'],
  [`${server}/ok5.ts`, '@gatehouse/api/http/target'],
  [`${web}/routes/auth/ok6.ts`, '@gatehouse/api/auth/sign-in/target'],
  ['packages/sandbox/src/ok7.ts', '@gatehouse/payment-sandbox/target'],
  ['packages/testing/src/ok10.ts', '@gatehouse/sandbox/target'],
];

/** Every syntax that imports a module, each in a file below the area that it imports. */
const forms: [file: string, text: string][] = [
  [`${api}/audit/f1.ts`, "import type { It } from '../router/target.ts';\nexport type Mine = It;"],
  [`${api}/audit/f2.ts`, "import '../router/target.ts';"],
  [`${api}/audit/f3.ts`, "export * from '../router/target.ts';"],
  [`${api}/audit/f4.ts`, "export const it = await import('../router/target.ts');"],
  [`${api}/audit/f5.ts`, "export type It = import('../router/target.ts').It;"],
  [
    `${web}/routes/f6.svelte`,
    '<script lang="ts">\nimport { it } from \'@gatehouse/api/platform/db/target\';\n</script>\n{it}',
  ],
];

/** Two files that import each other, and how one of them does. */
const cycles: [folder: string, statement: string, isRefused: boolean][] = [
  [`${api}/audit`, 'import { it } from', true],
  [`${api}/members`, 'import type { It } from', true],
  [`${web}/lib/components`, 'import type { It } from', true],
  ['examples/notes/src', 'import type { It } from', true],
  ['e2e/support/one', 'import { it } from', true],
  ['e2e/support/two', 'import type { It } from', false],
];

const packages = ['api', 'sandbox', 'payment-sandbox', 'embedded-postgres', 'client', 'testing'];
let tree: string;
let violations: Set<string>;

/** Writes all files into one tree, and runs dependency-cruiser on it once with the configuration of the repository. */
beforeAll(() => {
  tree = fs.mkdtempSync(path.join(os.tmpdir(), 'areas-'));
  for (const name of packages) {
    write(`packages/${name}/src/target.ts`, stub);
    write(
      `packages/${name}/package.json`,
      JSON.stringify({ name: `@gatehouse/${name}`, exports: { './*': './src/*.ts' } }),
    );
    fs.mkdirSync(path.join(tree, 'node_modules/@gatehouse'), { recursive: true });
    fs.symlinkSync(path.join(tree, 'packages', name), path.join(tree, 'node_modules/@gatehouse', name));
  }
  const folders = ['platform/db', 'platform/providers', 'auth/sessions', 'auth/sign-in', 'members/leaving'];
  for (const area of [...areas, ...folders, 'testing']) write(`${api}/${area}/target.ts`, stub);
  for (const file of ['app', 'create-app', 'platform/errors', 'platform/providers/untrusted-json', 'router/root'])
    write(`${api}/${file}.ts`, stub);
  for (const [file, text] of forms) write(file, text);
  for (const [file, source] of [...refused, ...allowed])
    write(file, `import { it } from '${source}';\nexport const mine = it;`);
  for (const [folder, statement] of cycles) {
    write(`${folder}/c1.ts`, `${statement} './c2.ts';\nexport const mine = 1;`);
    write(`${folder}/c2.ts`, `import { mine } from './c1.ts';\n${stub}`);
  }
  write('packages/client/src/ok8.ts', "import type { It } from '@gatehouse/api/router/root';\nexport type Mine = It;");
  fs.copyFileSync(path.join(root, 'tsconfig.base.json'), path.join(tree, 'tsconfig.base.json'));

  const command = path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const config = path.join(root, '.dependency-cruiser.mjs');
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [command, '--config', config, '--output-type', 'json', 'apps', 'packages', 'examples', 'e2e'],
    { cwd: tree, encoding: 'utf8', maxBuffer: 100_000_000 },
  );
  expect(stdout, stderr).toMatch(/^\{/);
  const { summary } = JSON.parse(stdout) as { summary: { violations: { from: string }[] } };
  violations = new Set(summary.violations.map(({ from }) => from));
});

afterAll(() => fs.rmSync(tree, { recursive: true, force: true }));

const stub = 'export const it = 1;\nexport type It = number;';

/** Writes a file; several cases may share one. */
function write(file: string, text: string): void {
  const to = path.join(tree, file);
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.appendFileSync(to, `${text}\n`);
}

it.each(refused)('%s may not import %s', (file) => {
  expect(violations).toContain(file);
});

it.each(forms)('%s may not import it by: %s', (file) => {
  expect(violations).toContain(file);
});

it.each(cycles)('in %s a cycle by "%s" is refused: %s', (folder, _statement, isRefused) => {
  expect(violations.has(`${folder}/c1.ts`)).toBe(isRefused);
});

it('allows everything else', () => {
  expect([...violations].filter((file) => /\/ok\d|providers\/payment/.test(file))).toEqual([]);
});
