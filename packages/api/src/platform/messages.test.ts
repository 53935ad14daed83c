import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { AppError, invalid } from './errors.ts';
import { message, readZodMessage, sentenceIn, zodMessage } from './messages.ts';
import { textsIn } from './texts.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

function sourcesIn(folder: string): [file: string, code: string][] {
  return fs
    .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|testing/.test(file))
    .map((file) => {
      const source = fs.readFileSync(path.join(root, folder, file), 'utf8');
      return [`${folder}/${file}`, source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')];
    });
}

describe('messages of errors', () => {
  it('are each used: a text of api/errors.json that no source names is left over', () => {
    const all = sourcesIn('.')
      .map(([, code]) => code)
      .join('\n');
    expect(Object.keys(textsIn('en', 'apiError')).filter((id) => !all.includes(`'${id}'`))).toEqual([]);
  });

  it.each(folders())('have a code in packages/api/src/%s, whose errors pages show', (folder) => {
    const found = sourcesIn(folder).flatMap(([file, code]) => {
      const fixed = [...code.matchAll(/'([A-Z][a-z]* [^'\n]+\.)'/g)];
      const built = [...code.matchAll(/`([^`\n]*\$\{[^`\n]* [^`\n]*\.)`/g)];
      return [...fixed, ...built].map(([, sentence = '']) => `${file}: ${sentence.replace(/\$\{[^}]*\}/g, '7')}`);
    });
    expect(found.filter((each) => !notOnPages.some((sentence) => each.endsWith(`: ${sentence}`)))).toEqual([]);
  });

  it('go through Zod, which carries strings only, and leave its own sentences as they are', () => {
    const tooLong = message('text_too_long', { maximum: 100 });
    expect(readZodMessage(zodMessage('text_too_long', { maximum: 100 }))).toEqual(tooLong);
    expect(readZodMessage('Invalid input: expected string')).toBe('Invalid input: expected string');
  });

  it('are English in an error, whose texts keep their codes for pages', () => {
    const error = invalid({ name: message('enter_name'), id: 'For programs.' });
    expect(error.message).toBe('Enter a name.');
    expect(error.fields).toEqual({ name: 'Enter a name.', id: 'For programs.' });
    expect(error.fieldTexts).toEqual({ name: { id: 'enter_name', values: {} }, id: 'For programs.' });
    expect(new AppError('GONE', 'For programs.')).toMatchObject({ message: 'For programs.', text: 'For programs.' });
    expect(sentenceIn('fr', message('enter_name'))).toBe('Saisissez un nom.');
  });
});

/** The folders whose errors a form of a page can show. Those of services (usage, changes) are for programs. */
function folders(): string[] {
  return [
    ...['auth/factors', 'auth/password', 'auth/profile', 'auth/sign-in', 'auth/sign-up', 'auth/verification'],
    ...['members', 'organisations', 'platform/security'],
    ...['operators/events', 'operators/organisations', 'operators/users', 'operators/queue'],
  ];
}

/** Sentences of these folders that no form of a page can cause. Each value of one is "7". */
const notOnPages = [
  // Of admin commands, which name an address.
  '7 is suspended: restore-organisation opens it again.',
  '7 is not waiting for a decision.',
  '7 owns no organisation.',
  '7 has no second factor.',
  // For operators, in the log or in the history.
  'The secret "7" cannot be decrypted: SECRET_KEY lacks the key that encrypted it.',
  'A declined request could not be erased.',
  'An account that nobody followed up could not be erased.',
  'No reason was given.',
  'Without PUBLIC_BASE_URL there are no passkeys.',
  // For the lines of `import-users`.
  'A hash of the form salt:key needs a format: better-auth or scrypt:N:r:p.',
  'This form of a hash is not known.',
  'A bcrypt hash has a cost from 4 to 13.',
  'An argon2 hash takes at most 64 MiB, 3 passes and 4 lanes.',
  'The salt or the key of this hash is not whole.',
  'A hash of PBKDF2 with SHA-256 has at most 1,500,000 rounds.',
  'A hash of PBKDF2 with SHA-512 has at most 500,000 rounds.',
  'These are no parameters of scrypt: N is a power of two.',
  'A scrypt hash takes at most 64 MiB (128 × N × r), and p is at most 4.',
  'The format 7 does not fit this hash, or is none of better-auth and scrypt:N:r:p.',
  // For programs: no field of a form can have another kind of value.
  'The limit must be a whole number from 1.',
  'This must be true or false.',
  'There is no such tier.',
  'There is no such meter.',
  'There is no such feature.',
];
