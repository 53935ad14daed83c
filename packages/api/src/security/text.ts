import { z } from 'zod';

/** Whether PostgreSQL can keep a text as it is: it refuses U+0000, and half of a surrogate pair is no character. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

/** A text from outside, with a sentence for whatever is not one. */
export function storableText(missing: string) {
  return z.string({ error: missing }).refine(isStorable, 'This text holds characters that cannot be kept.');
}

/** A free text that fits in one line of a page: trimmed, without characters that break or turn the line. */
export function freeLine(most: number) {
  return (
    storableText('This must be a text.')
      .transform((text) => text.trim())
      // Nor characters that turn the direction of writing: they make a name look like another.
      .refine((text) => !unprintable.test(text), 'This must be one line without control characters.')
      .refine((text) => [...text].length <= most, `This must be at most ${most} characters.`)
  );
}

const unprintable = /[\p{Cc}\p{Bidi_C}\u2028\u2029]/u;

/**
 * Characters that no name may contain: they break a line, turn the direction of writing,
 * or are invisible, and so make one name look like another. U+200C and U+200D stay
 * between letters, where many scripts need them; a letter's combining marks belong to it.
 */
const refusedInNames =
  /(?!(?<=\p{L}\p{M}*)[\u200c\u200d](?=\p{L}))[\p{Cc}\p{Cs}\p{Bidi_C}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** A name of a user or an organisation: trimmed, one line, without invisible characters. */
export function oneLine(most: number) {
  return freeLine(most).refine(
    (text) => unprintable.test(text) || text.search(refusedInNames) === -1,
    'This must not contain invisible characters.',
  );
}

/**
 * Returns a name from another system as the rules for names allow it: what they refuse is
 * removed (a line break or tab becomes a space), and the rest is cut. Null for an empty one.
 *
 * @param most in code points.
 */
export function cleanName(text: string, most: number): string | null {
  const visible = text
    .replace(/[\t-\r\u0085\u2028\u2029]+/g, ' ')
    .replace(refusedInNames, '')
    .trim();
  // A cut can leave a joiner at the end, where it is between no letters.
  const name = [...visible].slice(0, most).join('').replace(refusedInNames, '').trim();
  return name || null;
}

/** Returns the LIKE pattern that finds a text anywhere, its own wildcards taken literally. */
export function partOf(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
