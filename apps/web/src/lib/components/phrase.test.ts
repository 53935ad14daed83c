import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { placeholdersOf } from '@gatehouse/languages/placeholders';
import { readLanguageFiles, textsOf } from '@gatehouse/languages/read-files';
import { type AST, parse } from 'svelte/compiler';
import { expect, test } from 'vitest';

const source = fileURLToPath(new URL('../..', import.meta.url));
const components = fs
  .readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.svelte'))
  .map((file) => ({ file, code: fs.readFileSync(path.join(source, file), 'utf8') }))
  .filter(({ code }) => code.includes('<Phrase'));

const [english] = readLanguageFiles();
const all = new Map([...(english?.files.values() ?? [])].flatMap((texts) => textsOf(texts)));

function phrasesIn(node: unknown): AST.Component[] {
  if (Array.isArray(node)) return node.flatMap(phrasesIn);
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap(phrasesIn);
  const { type, name } = node as { type?: string; name?: string };
  return type === 'Component' && name === 'Phrase' ? [node as AST.Component, ...inner] : inner;
}

/** The values that a phrase is given: its attributes, and the snippets within it. */
function valuesOf({ attributes, fragment }: AST.Component): string[] {
  const snippets = fragment.nodes.flatMap((node) => (node.type === 'SnippetBlock' ? [node.expression.name] : []));
  return [...attributes.flatMap((each) => (each.type === 'Attribute' ? [each.name] : [])), ...snippets];
}

test('a phrase is given a value for each placeholder of its texts', () => {
  let checked = 0;
  const missing = components.flatMap(({ file, code }) => {
    const groups = new Map(
      [...code.matchAll(/const (\w+) = texts\('(\w+)'\)/g)].map(([, name = '', group = '']) => [name, group]),
    );
    return phrasesIn(parse(code, { modern: true }).fragment).flatMap((phrase) => {
      const values = valuesOf(phrase);
      const text = phrase.attributes.find((each) => each.type === 'Attribute' && each.name === 'text');
      const expression = code.slice(text?.start, text?.end);
      return [...expression.matchAll(/\b(\w+)\.(\w+)\b/g)].flatMap(([, name = '', key = '']) => {
        const english = all.get(`${groups.get(name)}.${key}`);
        if (english === undefined) return [];
        checked++;
        const lacking = [...placeholdersOf(english).keys()].filter((each) => !values.includes(each));
        return lacking.map((each) => `${file}: ${key} lacks ${each}`);
      });
    });
  });
  expect(missing).toEqual([]);
  expect(checked).toBeGreaterThan(50);
});
