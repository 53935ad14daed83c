import { texts } from '#lib/language/texts.ts';
import { minLength, type StrengthTexts } from './password-strength.ts';

/** The hints below a new password, in the language of the page. A file of its own, because the page script loads no texts. */
export function strengthTexts(): StrengthTexts {
  const { empty, more, repetitive, fair, good, strong } = texts('password');
  const missing = Array.from({ length: minLength - 1 }, (_, at) => more({ count: at + 1 }));
  return { empty, missing, repetitive, fair, good, strong };
}
