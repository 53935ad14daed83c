import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readLanguageFiles, textsOf } from '@gatehouse/languages/read-files';
import { parse } from 'svelte/compiler';
import { afterAll, expect, test } from 'vitest';
import { readLanguageFrom } from './language.ts';
import { texts } from './texts.ts';

afterAll(() => readLanguageFrom(() => 'en'));

const source = fileURLToPath(new URL('../..', import.meta.url));
const files = fs
  .readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(svelte|ts)$/.test(file) && !/\.test\.ts$|(^|\/)testing\//.test(file))
  .map((file) => ({ file, code: fs.readFileSync(path.join(source, file), 'utf8') }));

test('the texts are those of the language of the page or request', () => {
  readLanguageFrom(() => 'de');
  expect(texts('signIn').continueWith({ idp: 'Larch' })).toBe('Weiter mit Larch');
  readLanguageFrom(() => 'fr');
  expect(texts('signIn').title).toBe('Se connecter');
  readLanguageFrom(() => 'en');
  expect(texts('signIn').title).toBe('Sign in');
});

/** Groups whose texts the code takes by a name that it computes: a status, a role, an action, the form of an object. */
const computed = [
  'accountDone',
  'activity.sentences',
  'activity.roles',
  'activity.asRoles',
  'audit',
  'key.state',
  'plan.methods',
  'accountAdmin.status',
  'eventType.names',
  'eventType.effects',
  'eventType.problems',
  'event.held',
  'form.kept',
  'change.status',
  'report.facts',
  'money.intervals',
  'role.names',
  'role.withArticle',
  'role.as',
  'role.may',
  'apiDocs.access',
  // packages/api writes them, for the mail too.
  'date.within',
];

test('every text is used', () => {
  const [english] = readLanguageFiles();
  // packages/api uses those of errors and mails.
  const ofPages = [...(english?.files ?? [])].filter(([file]) => !/^(api|mail)\//.test(file));
  const unused = ofPages.flatMap(([file, groups]) =>
    Object.entries(groups).flatMap(([group, its]) => {
      const users = files.filter(({ code }) => code.includes(`texts('${group}')`) || code.includes(`['${group}']`));
      const isUsed = (key: string) =>
        computed.some((each) => `${key}.`.startsWith(`${each}.`)) ||
        /^activity\.(you|operator|formerMember)(Object|Dative)$/.test(key) ||
        users.some(({ code }) => new RegExp(`[.?{,]\\s*${key.split('.').at(-1)}\\b`).test(code));
      return textsOf({ [group]: its })
        .filter(([key]) => !isUsed(key))
        .map(([key]) => `${file}: ${key}`);
    }),
  );
  expect(unused).toEqual([]);
});

/** The same in every language. */
const commands = ['operator reconcile'];

/** A sentence, or two words. */
const isSentence = (text: string) => /\p{L}{2,} \p{L}{2,}/u.test(text);

type Node = { type: string; data?: string; name?: string; value?: unknown };

function nodesOf(node: unknown): Node[] {
  if (Array.isArray(node)) return node.flatMap(nodesOf);
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.entries(node)
    .filter(([name]) => !['css', 'instance', 'module', 'comments', 'options'].includes(name))
    .flatMap(([, value]) => nodesOf(value));
  return 'type' in node ? [node as Node, ...inner] : inner;
}

test('no component has a sentence of its own', () => {
  const readToUsers = ['aria-label', 'title', 'placeholder', 'alt', 'label'];
  const found = files
    .filter(({ file }) => file.endsWith('.svelte'))
    .flatMap(({ file, code }) => {
      const nodes = nodesOf(parse(code, { modern: true }));
      const attributes = nodes.filter(({ type, name = '' }) => type === 'Attribute' && readToUsers.includes(name));
      const others = new Set(
        nodes.filter(({ type, name = '' }) => type === 'Attribute' && !readToUsers.includes(name)).flatMap(nodesOf),
      );
      const shown = [...nodes.filter((node) => !others.has(node)), ...attributes.flatMap(nodesOf)];
      return shown
        .filter(({ type, data = '' }) => type === 'Text' && isSentence(data) && !commands.includes(data.trim()))
        .map(({ data }) => `${file}: ${data?.trim()}`);
    });
  expect(found).toEqual([]);
});
/** In scripts: the English of errors, which pages translate or replace, and what no page shows. */
const notShown = [
  'lib/forms/form-fields.ts: Send the fields as a form.',
  'lib/forms/form-fields.ts: This form could not be read.',
  'routes/invitation/+page.server.ts: This invitation is no longer valid.',
  'routes/(app)/(settings)/keys/+page.server.ts: This page is for owners and admins.',
  'routes/(app)/(settings)/organisation/audit/+page.server.ts: This page is for owners and admins.',
  'routes/(app)/(settings)/organisation/audit.csv/+server.ts: This page is for owners and admins.',
  'routes/(app)/(settings)/organisation/audit.csv/+server.ts: The plan has no audit log.',
  'routes/(app)/operator/require-operator.ts: This page is for operators.',
  'routes/(app)/operator/require-operator.ts: Page not found.',
  'routes/(app)/operator/parts/reason-text.ts: No reason was given.',
  // What error.html says where the server cannot answer.
  'lib/server/http/reject-request.ts: Nothing was changed. Load the page again in a moment.',
  'lib/server/http/reject-request.ts: Go to the home page',
  'lib/server/http/reject-request.ts: Number %sveltekit.status%',
];

test('no script has a sentence of its own', () => {
  const found = files.flatMap(({ file, code }) => {
    const script = code.replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$|<!--[\s\S]*?-->/gm, '');
    const strings = script.matchAll(/(['"`])(\p{Lu}\p{L}* [^'"`\n]*\p{L}{2,}[^'"`\n]*)\1/gu);
    return [...strings].map(([, , text]) => `${file}: ${text}`);
  });
  expect(found.filter((each) => !notShown.includes(each))).toEqual([]);
});
