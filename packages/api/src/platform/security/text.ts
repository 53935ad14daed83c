import { z } from 'zod';
import { zodMessage } from '../messages.ts';

/** Whether PostgreSQL can store a string unchanged: without U+0000 and without unpaired surrogates. */
export function isStorable(value: string): boolean {
  return value.isWellFormed() && !value.includes('\u0000');
}

/** The schema of a string that can be stored. `missingSentence` is the error for any other type of value. */
export function storableText(missingSentence: string) {
  return z.string({ error: missingSentence }).refine(isStorable, zodMessage('not_storable'));
}

/**
 * The schema of free text in one line: trimmed, without characters that break the line or change
 * the writing direction. `maximum` counts code points.
 */
export function freeLine(maximum: number) {
  return (
    storableText(zodMessage('not_text'))
      .transform((value) => value.trim())
      // First and alone: nothing else is looked for in a text of any length.
      .refine((value) => [...value].length <= maximum, { error: zodMessage('text_too_long', { maximum }), abort: true })
      // Characters that change the writing direction make a name look like another.
      .refine((value) => !unprintable.test(value), zodMessage('not_one_line'))
  );
}

const unprintable = /[\p{Cc}\p{Bidi_C}\u2028\u2029]/u;

/**
 * Characters that no name may contain: they break a line, change the writing direction or are
 * invisible, and so make one name look like another. U+200C and U+200D are allowed between
 * letters, where many scripts need them; combining marks belong to their letter. It looks back from joiners alone: from
 * every mark it took the square of their number.
 */
const refusedInNames =
  /[\u200c\u200d](?:(?<!\p{L}\p{M}*[\u200c\u200d])|(?!\p{L}))|(?![\u200c\u200d])[\p{Cc}\p{Cs}\p{Bidi_C}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** The schema of a name of a user or an organisation: trimmed, one line, without invisible characters. */
export function oneLine(maximum: number) {
  return freeLine(maximum).refine(
    (value) => unprintable.test(value) || value.search(refusedInNames) === -1,
    zodMessage('invisible_characters'),
  );
}

/**
 * Returns another system's name in the form that the rules for names allow: refused characters
 * are removed (a line break or tab becomes a space) and the rest is cut to `maximum` code
 * points. Returns null if nothing remains.
 */
export function cleanName(foreignName: string, maximum: number): string | null {
  const visible = foreignName
    .replace(/[\t-\r\u0085\u2028\u2029]+/g, ' ')
    .replace(refusedInNames, '')
    .trim();
  // A cut can leave a joiner at the end, which is not between letters.
  const name = [...visible].slice(0, maximum).join('').replace(refusedInNames, '').trim();
  return name || null;
}

/** Returns the LIKE pattern that matches strings containing a term. Wildcards in the term match literally. */
export function partOf(term: string): string {
  return `%${literal(term)}%`;
}

/** Returns the LIKE pattern that matches strings that begin with a term. Wildcards in the term match literally. */
export function beginningOf(term: string): string {
  return `${literal(term)}%`;
}

function literal(term: string): string {
  return term.replace(/[\\%_]/g, '\\$&');
}
