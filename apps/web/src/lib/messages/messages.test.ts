import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { languages, readLanguageFrom } from '#lib/language/language.ts';

afterAll(() => readLanguageFrom(() => 'en'));

const folder = fileURLToPath(new URL('.', import.meta.url));
const files = fs
  .readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));

/** Of two words, and the same in every language. */
const brands = ['American Express'];

type Texts = { [name: string]: unknown };

/** The names and placeholders of all texts, and the texts that are not functions. */
function walk(texts: Texts, before = ''): { name: string; text: string | null }[] {
  return Object.entries(texts).flatMap(([name, text]) => {
    const full = `${before}${name}`;
    if (typeof text === 'string') return [{ name: full, text }];
    return typeof text === 'object' ? walk(text as Texts, `${full}.`) : [{ name: full, text: null }];
  });
}

test.each(files)('%s has each text in every language, with the same placeholders, and translated', async (file) => {
  const exported: Texts = await import(/* @vite-ignore */ `${folder}${file}`);
  for (const read of Object.values(exported)) {
    if (typeof read !== 'function') continue;
    const [english = [], ...others] = languages.map((language) => {
      readLanguageFrom(() => language);
      return walk(read() as Texts);
    });
    expect(english.length).toBeGreaterThan(0);
    for (const other of others) {
      expect(other.map(({ name }) => name).sort()).toEqual(english.map(({ name }) => name).sort());
      for (const { name, text } of other) {
        const original = english.find((each) => each.name === name)?.text ?? null;
        const isSentence = original !== null && /\p{L} \p{L}/u.test(original) && !brands.includes(original);
        if (isSentence) expect(text, name).not.toBe(original);
        const parts = (sentence: string | null) => (sentence ?? '').match(/\{\w+\}/g)?.sort() ?? [];
        // A placeholder of the verb occurs only in the languages that need it.
        if (!name.startsWith('sentences.')) expect(parts(text), name).toEqual(parts(original));
      }
    }
  }
});
