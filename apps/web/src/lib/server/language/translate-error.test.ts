import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inLanguage } from './choose-language.ts';
import { germanPatterns, germanSentences } from './german-errors.ts';
import { translateBody, translateError } from './translate-error.ts';

const api = fileURLToPath(new URL('../../../../../../packages/api/src', import.meta.url));

/** Folders whose errors a page's form shows. Those of services (usage, changes) are read by programs. */
const folders = [
  ...['accounts', 'keys', 'leaving', 'members', 'organisations', 'sign-in', 'security'],
  ...['operators/events', 'operators/organisations', 'operators/people', 'operators/queue'],
];

/** Sentences that no form of a page can cause. */
const notOnPages = [
  'A declined request could not be erased.',
  'An erasure did not end. It will be continued.',
  'The limit must be a whole number from 1.',
  'This must be a number.',
  'This must be an id.',
  'This must be true or false.',
];

function sentencesIn(folder: string): string[] {
  return fs
    .readdirSync(path.join(api, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|testing/.test(file))
    .flatMap((file) => {
      const source = fs.readFileSync(path.join(api, folder, file), 'utf8').replace(/\/\*.*?\*\/|^\s*\/\/.*$/gms, '');
      return [...source.matchAll(/'([A-Z][a-z]* [^'\n]+\.)'/g)].map(([, sentence = '']) => sentence);
    });
}

describe('errors on pages', () => {
  it.each(folders)('has a translation for every sentence of packages/api/src/%s', (folder) => {
    const sentences = sentencesIn(folder).filter((sentence) => !notOnPages.includes(sentence));
    expect(sentences.filter((sentence) => !Object.hasOwn(germanSentences, sentence))).toEqual([]);
  });

  it('stays to the letter in English', () => {
    for (const sentence of Object.keys(germanSentences)) {
      expect(inLanguage('en', () => translateError(sentence, 'VALIDATION'))).toBe(sentence);
    }
  });

  it('keeps the value of a sentence, and names the code where a sentence is unknown', () => {
    const german = (sentence: string, code = 'VALIDATION') => inLanguage('de', () => translateError(sentence, code));
    expect(german('Use at least 8 characters.')).toBe('Verwenden Sie mindestens 8 Zeichen.');
    expect(german('You belong to Larch $& Sons already.')).toBe('Sie gehören schon zu Larch $& Sons.');
    expect(german('mia@quayside.example is suspended already.')).toBe('mia@quayside.example ist schon gesperrt.');
    expect(german('A sentence of a newer version.', 'CONFLICT')).toMatch(/^Das hat sich inzwischen geändert/);
    expect(german('toString', 'toString')).toBe('Etwas ist schiefgegangen.');
    expect(germanPatterns.every(([form]) => form.source.startsWith('^') && form.source.endsWith('$'))).toBe(true);
  });

  it('is translated with its fields, and keeps its code and facts', () => {
    const body = {
      error: 'Enter your password.',
      code: 'VALIDATION',
      fields: { password: 'Enter your password.' },
      n: 1,
    };
    expect(inLanguage('de', () => translateBody(body))).toEqual({
      error: 'Geben Sie Ihr Passwort ein.',
      code: 'VALIDATION',
      fields: { password: 'Geben Sie Ihr Passwort ein.' },
      n: 1,
    });
  });
});
