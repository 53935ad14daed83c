import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const domains = [
  'audit',
  'organisations',
  'sessions',
  'accounts',
  'billing',
  'usage',
  'members',
  'sign-in',
  'leaving',
  'operators',
  'router',
];
const api = 'packages/api/src';
const web = 'apps/web/src';
const doors = `${web}/lib/server`;

/** One import that the linter must refuse: the file, and what it names. */
const refused: [file: string, source: string][] = [
  ...domains
    .slice(0, -1)
    .map((domain, at): [string, string] => [`${api}/${domain}/a.ts`, `../${domains[at + 1]}/b.ts`]),
  ...domains.map((domain): [string, string] => [`${api}/${domain}/b.ts`, '../testing/app.ts']),
  ...['errors', 'log', 'links', 'config'].flatMap((ground): [string, string][] => [
    [`${api}/${ground}.ts`, './audit/record.ts'],
    [`${api}/${ground}.ts`, './billing/plans.ts'],
    [`${api}/${ground}.ts`, './db/client.ts'],
    [`${api}/${ground}.ts`, './app.ts'],
  ]),
  [`${api}/app.ts`, './router/root.ts'],
  [`${api}/app.ts`, './testing/app.ts'],
  [`${api}/jobs.ts`, './billing/jobs.ts'],
  [`${api}/security/a.ts`, '../db/client.ts'],
  [`${api}/db/a.ts`, '../audit/record.ts'],
  [`${api}/db/b.ts`, '../providers/mailer.ts'],
  [`${api}/providers/a.ts`, '../db/client.ts'],
  [`${api}/providers/b.ts`, '../organisations/slug.ts'],
  [`${api}/router/c.ts`, '../db/schema.ts'],
  [`${api}/router/d.ts`, '../providers/payment.ts'],
  [`${api}/of-no-floor/a.ts`, '../errors.ts'],
  [`${api}/organisations/c.ts`, '@gatehouse/api/billing/plans'],
  [`${api}/organisations/d.ts`, '@gatehouse/api/errors'],
  [`${api}/organisations/e.ts`, './../billing/plans.ts'],

  [`${api}/billing/c.ts`, 'oslo/crypto'],
  [`${api}/billing/d.ts`, 'stripe'],
  [`${api}/providers/c.ts`, 'stripe'],
  [`${api}/accounts/c.ts`, 'nodemailer'],
  [`${api}/sessions/c.ts`, 'lucia'],
  [`${api}/billing/e.ts`, '@gatehouse/sandbox/sandbox'],
  ['apps/server/src/main.ts', '@gatehouse/sandbox/sandbox'],
  [`${web}/hooks.server.ts`, '@gatehouse/sandbox/sandbox'],
  [`${web}/routes/login/+page.server.ts`, 'drizzle-orm'],
  [`${web}/routes/login/a.ts`, 'postgres'],
  [`${doors}/a.ts`, '@gatehouse/embedded-postgres/embedded-postgres'],
  [`${api}/db/c.ts`, '@gatehouse/embedded-postgres/embedded-postgres'],
  ['packages/embedded-postgres/src/a.ts', '@gatehouse/api/config'],
  ['packages/embedded-postgres/src/b.ts', '@gatehouse/server/operator'],
  ['packages/toolchain/a.ts', '@gatehouse/server/service'],
  ['packages/client/src/b.ts', '@gatehouse/web/src/app'],
  ['packages/sandbox/src/sandbox.ts', '../../api/src/errors.ts'],
  ['packages/sandbox/src/a.ts', '@gatehouse/api/errors'],
  [`${api}/audit/c.ts`, '../../../sandbox/src/sandbox.ts'],

  [`${web}/routes/login/b.ts`, '@gatehouse/api/sessions/session'],
  [`${web}/routes/login/c.ts`, '@gatehouse/api/app'],
  [`${web}/routes/auth/a.ts`, '@gatehouse/api/accounts/sign-up'],
  [`${web}/routes/webhooks/a.ts`, '@gatehouse/api/billing/sync'],
  [`${web}/hooks.server.ts`, '@gatehouse/api/sign-in/way-back'],
  [`${doors}/cookies.ts`, '@gatehouse/api/leaving/delete-account'],
  [`${doors}/cookies.ts`, '@gatehouse/api/accounts/sign-up'],
  [`${doors}/cookies.ts`, '@gatehouse/api/organisations/approve'],
  [`${doors}/cookies.ts`, '@gatehouse/api/audit/record'],
  [`${doors}/cookies.ts`, '@gatehouse/api/testing/app'],
  [`${doors}/cookies.ts`, '@gatehouse/api/db/schema'],
  [`${doors}/verify.ts`, '@gatehouse/api/accounts/sign-up'],
  ['apps/server/src/main.ts', '@gatehouse/api/app'],
  ['apps/server/src/operator.ts', '@gatehouse/api/db/client'],
  ['apps/server/src/commands/a.ts', '@gatehouse/api/router/root'],
  ['packages/client/src/a.ts', '@gatehouse/api/db/schema'],
  ['packages/client/src/a.ts', '@gatehouse/api/router/root'],
];

/** What stands: the linter must not refuse everything. */
const allowed: [file: string, source: string][] = [
  ...domains.slice(1, -1).map((domain, at): [string, string] => [`${api}/${domain}/c.ts`, `../${domains[at]}/b.ts`]),
  ...domains.slice(0, -1).map((domain): [string, string] => [`${api}/router/a.ts`, `../${domain}/b.ts`]),
  [`${api}/audit/d.ts`, '../db/schema.ts'],
  [`${api}/audit/d.ts`, './record.ts'],
  [`${api}/security/b.ts`, '../errors.ts'],
  [`${api}/security/b.ts`, 'oslo/encoding'],
  [`${api}/providers/payment.ts`, 'stripe'],
  ['apps/server/src/a.ts', '@gatehouse/embedded-postgres/embedded-postgres'],
  ['packages/toolchain/b.ts', '@gatehouse/embedded-postgres/embedded-postgres'],
  [`${doors}/b.ts`, '@gatehouse/api/sessions/session'],
  [`${web}/routes/auth/b.ts`, '@gatehouse/api/sign-in/start-sign-in'],
];

/** Every way to name a module, each of a file that stands below what it names. */
const forms: [file: string, text: string][] = [
  [`${api}/audit/a.ts`, "import type { It } from '../router/root.ts';\nexport type Mine = It;"],
  [`${api}/audit/a.ts`, "import '../router/root.ts';"],
  [`${api}/audit/a.ts`, "export * from '../router/root.ts';"],
  [`${api}/audit/a.ts`, "export const it = await import('../router/root.ts');"],
  [`${api}/audit/a.ts`, "export type It = import('../router/root.ts').It;"],
  [
    `${web}/routes/+page.svelte`,
    '<script lang="ts">\nimport { it } from \'@gatehouse/api/db/schema\';\n</script>\n{it}',
  ],
];

const imports = ([file, source]: [string, string]): [string, string] => [
  file,
  `import { it } from '${source}';\nexport const mine = it;`,
];

let tree: string;
let complaints: Set<string>;

/** Each in a tree of its own, all looked at by one run of the linter under our configuration. */
beforeAll(() => {
  tree = fs.mkdtempSync(path.join(os.tmpdir(), 'layers-'));
  const written = { refused: refused.map(imports), allowed: allowed.map(imports), forms };
  for (const [kind, files] of Object.entries(written)) for (const [at, file] of files.entries()) write(kind, at, file);
  write('client', 0, [
    'packages/client/src/a.ts',
    "import type { It } from '@gatehouse/api/router/root';\nexport type Mine = It;",
  ]);

  for (const kept of ['.biome.json', '.gitignore', 'packages/toolchain/layers.grit']) {
    fs.mkdirSync(path.dirname(path.join(tree, kept)), { recursive: true });
    fs.copyFileSync(path.join(root, kept), path.join(tree, kept));
  }
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const { stdout, stderr } = spawnSync(process.execPath, [biome, 'lint', '--reporter=json', '--max-diagnostics=none'], {
    cwd: tree,
    encoding: 'utf8',
  });
  expect(stdout, stderr).toMatch(/^\{/);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { category: string; location: { path: string } }[] };
  complaints = new Set(
    diagnostics.filter(({ category }) => category === 'plugin').map(({ location }) => location.path),
  );
});

afterAll(() => fs.rmSync(tree, { recursive: true, force: true }));

function write(kind: string, at: number, [file, text]: [string, string]): void {
  const to = path.join(tree, kind, String(at), file);
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.writeFileSync(to, `${text}\n`);
}

it.each(refused.map(([file, source], at) => ({ file, source, at })))('refuses $source in $file', ({ file, at }) => {
  expect(complaints).toContain(`refused/${at}/${file}`);
});

it.each(forms.map(([file, text], at) => ({ file, text, at })))('refuses $text', ({ file, at }) => {
  expect(complaints).toContain(`forms/${at}/${file}`);
});

it('lets everything else stand', () => {
  expect([...complaints].filter((file) => /^(allowed|client)/.test(file))).toEqual([]);
});
