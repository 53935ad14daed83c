import { z } from 'zod';

/** Whether PostgreSQL can keep a text as it is: it refuses U+0000, and half of a surrogate pair is no character. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

/** A text from outside, with a sentence for whatever is not one. */
export function storableText(missing: string) {
  return z.string({ error: missing }).refine(isStorable, 'This text holds characters that cannot be kept.');
}

/** A text that fits in one line of a page, a mail or a header: trimmed, without control characters. */
export function oneLine(most: number) {
  return (
    storableText('This must be a text.')
      .transform((text) => text.trim())
      // Nor characters that turn the direction of writing: they make a name look like another.
      .refine(
        (text) => !/[\p{Cc}\p{Bidi_C}\u2028\u2029]/u.test(text),
        'This must be one line without control characters.',
      )
      .refine((text) => [...text].length <= most, `This must be at most ${most} characters.`)
  );
}
