import { texts } from '#lib/language/texts.ts';

/** A reason as it was typed. The sentence that packages/api stores where none was typed is translated. */
export function reasonText(reason: string): string {
  return reason === 'No reason was given.' ? texts('console').noReason : reason;
}
