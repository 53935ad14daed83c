import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { readLanguageFrom } from '#lib/language/language.ts';
import { germanPatterns, germanSentences } from './german-errors.ts';
import { translateBody, translateError } from './translate-error.ts';

const api = fileURLToPath(new URL('../../../../../../packages/api/src', import.meta.url));

/** The folders whose errors a form of a page can show. Those of services (usage, changes) are for programs. */
const folders = [
  ...['auth/factors', 'auth/password', 'auth/profile', 'auth/sign-in', 'auth/sign-up', 'auth/verification'],
  ...['members', 'organisations', 'platform/security'],
  ...['operators/events', 'operators/organisations', 'operators/users', 'operators/queue'],
];

/** Sentences that no form of a page can cause. */
const notOnPages = [
  // Of admin commands, which name an address.
  '7 is suspended: restore-organisation opens it again.',
  '7 is not waiting for a decision.',
  '7 owns no organisation.',
  '7 has no second factor.',
  // For operators, in the log.
  'The secret "7" cannot be decrypted: SECRET_KEY lacks the key that encrypted it.',
  'A declined request could not be erased.',
  'The limit must be a whole number from 1.',
  'This must be a number.',
  'This must be an id.',
  'This must be true or false.',
  'Without PUBLIC_BASE_URL there are no passkeys.',
  'The secret "7" cannot be decrypted: SECRET_KEY lacks the key that encrypted it.',
];

/**
 * The sentences of a folder's sources, without its mails, which no page shows. In one that is built of values, each
 * value is "7".
 */
function sentencesIn(folder: string): string[] {
  return fs
    .readdirSync(path.join(api, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|testing|-mail\.ts$/.test(file))
    .flatMap((file) => {
      const source = fs.readFileSync(path.join(api, folder, file), 'utf8');
      const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
      const fixed = [...code.matchAll(/'([A-Z][a-z]* [^'\n]+\.)'/g)];
      const built = [...code.matchAll(/`([^`\n]*\$\{[^`\n]* [^`\n]*\.)`/g)];
      return [...fixed, ...built].map(([, sentence = '']) => sentence.replace(/\$\{[^}]*\}/g, '7'));
    });
}

function isTranslated(sentence: string): boolean {
  return Object.hasOwn(germanSentences, sentence) || germanPatterns.some(([form]) => form.test(sentence));
}

describe('errors on pages', () => {
  afterEach(() => readLanguageFrom(() => 'en'));

  it.each(folders)('has a translation for every sentence of packages/api/src/%s', (folder) => {
    const sentences = sentencesIn(folder).filter((sentence) => !notOnPages.includes(sentence));
    expect(sentences.filter((sentence) => !isTranslated(sentence))).toEqual([]);
  });

  it('leaves an English sentence unchanged', () => {
    for (const sentence of Object.keys(germanSentences)) {
      expect(translateError(sentence, 'VALIDATION')).toBe(sentence);
    }
  });

  it('keeps the values of a sentence, and falls back to the sentence of the code', () => {
    readLanguageFrom(() => 'de');
    const german = (sentence: string, code = 'VALIDATION') => translateError(sentence, code);
    expect(german('Use at least 8 characters.')).toBe('Verwenden Sie mindestens 8 Zeichen.');
    expect(german('The Free plan allows 1 member.')).toBe('Der Tarif Free erlaubt 1 Mitglied.');
    expect(german('The Silver plan allows 10 members.')).toBe('Der Tarif Silver erlaubt 10 Mitglieder.');
    expect(german('The Silver plan could not be cancelled. Everything else was. Try again in a moment.')).toMatch(
      /^Nicht gekündigt: Silver\./,
    );
    expect(german('You belong to Larch $& Sons already.')).toBe('Sie gehören schon zu Larch $& Sons.');
    expect(german('mia@quayside.example is suspended already.')).toBe('mia@quayside.example ist schon gesperrt.');
    expect(german('This page is out of date. Load it again.')).toBe('Diese Seite ist veraltet. Laden Sie sie neu.');
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
    readLanguageFrom(() => 'de');
    expect(translateBody(body)).toEqual({
      error: 'Geben Sie Ihr Passwort ein.',
      code: 'VALIDATION',
      fields: { password: 'Geben Sie Ihr Passwort ein.' },
      n: 1,
    });
  });
});
