import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { generate } from './generate.ts';
import { placeholdersOf, pluralsOf } from './placeholders.ts';
import { folder, type LanguageFiles, readLanguageFiles, textsOf } from './read-files.ts';

const [english, ...others] = readLanguageFiles();
const notes: Record<string, { where: string; keys?: Record<string, string> }> = JSON.parse(
  fs.readFileSync(path.join(folder, 'notes.json'), 'utf8'),
);

/** Of two words, and the same in every language. */
const brands = ['American Express'];

/** All texts of a language by file and key: 'sign-in/sign-in.json: signIn.title'. */
function textsByKey({ files }: LanguageFiles): Map<string, string> {
  return new Map([...files].flatMap(([file, texts]) => textsOf(texts).map(([key, text]) => [`${file}: ${key}`, text])));
}

const englishTexts = textsByKey(english as LanguageFiles);
const placesWhere = (texts: Map<string, string>, isWrong: (text: string, place: string) => boolean) =>
  [...texts].filter(([place, text]) => isWrong(text, place)).map(([place]) => place);

it('English is the language that decides which texts there are', () => {
  expect(english?.code).toBe('en');
  expect(englishTexts.size).toBeGreaterThan(1000);
});

it('what is generated is up to date: otherwise run `npm run languages`', () => {
  const written = fs
    .readdirSync(path.join(folder, 'generated'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [file.replaceAll(path.sep, '/'), fs.readFileSync(path.join(folder, 'generated', file), 'utf8')]);
  expect(Object.fromEntries(written)).toEqual(Object.fromEntries(generate(readLanguageFiles())));
});

it('no two files have a group of the same name', () => {
  const groups = [...(english?.files.values() ?? [])].flatMap((texts) => Object.keys(texts));
  expect(groups.filter((group, at) => groups.indexOf(group) !== at)).toEqual([]);
});

it('a note tells where each file stands, and names only files and keys that exist', () => {
  expect(Object.keys(notes).sort()).toEqual([...(english?.files.keys() ?? [])].sort());
  const unknown = Object.entries(notes).flatMap(([file, { keys = {} }]) =>
    Object.keys(keys)
      .filter((key) => ![...englishTexts.keys()].some((place) => `${place}.`.startsWith(`${file}: ${key}.`)))
      .map((key) => `${file}: ${key}`),
  );
  expect(unknown).toEqual([]);
});

describe.each([english as LanguageFiles, ...others])('$code', (language) => {
  const texts = textsByKey(language);

  it('has each text of English, and no other', () => {
    expect(placesWhere(englishTexts, (_, place) => !texts.has(place))).toEqual([]);
    expect(placesWhere(texts, (_, place) => !englishTexts.has(place))).toEqual([]);
  });

  it('is in ICU MessageFormat, without ASCII apostrophes, which quote there, but within a word', () => {
    const isReadable = (text: string) => {
      try {
        return placeholdersOf(text).size > 0 || !/[{}]/.test(text);
      } catch {
        return false;
      }
    };
    expect(placesWhere(texts, (text) => !isReadable(text) || /(?<!\p{L})'|'(?!\p{L})/u.test(text))).toEqual([]);
  });

  it('has the placeholders of English', () => {
    const names = (text: string) => [...placeholdersOf(text).keys()].sort().join(', ');
    // Which of an activity's values a sentence needs is a matter of grammar: all of them have all values.
    const isSentence = (place: string) => place.startsWith('app/activity.json: activity.sentences.');
    const differs = (text: string, place: string) => names(text) !== names(englishTexts.get(place) ?? '');
    expect(placesWhere(texts, (text, place) => !isSentence(place) && differs(text, place))).toEqual([]);
  });

  it('has the plurals of its language', () => {
    const { pluralCategories } = new Intl.PluralRules(language.about.locale).resolvedOptions();
    const isForm = (form: string) => form.startsWith('=') || pluralCategories.some((category) => category === form);
    expect(placesWhere(texts, (text) => !pluralsOf(text).every(isForm))).toEqual([]);
  });

  it('is translated', () => {
    if (language.code === 'en') return;
    const isSentence = (text: string) => /\p{L} \p{L}/u.test(text.replace(/\{[^}]*\}/g, '')) && !brands.includes(text);
    expect(placesWhere(texts, (text, place) => isSentence(text) && text === englishTexts.get(place))).toEqual([]);
  });
});
