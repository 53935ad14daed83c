import type { ErrorCode } from '@gatehouse/api/platform/errors';
import { language } from '#lib/language/language.ts';
import { germanByCode, germanPatterns, germanSentences } from './german-errors.ts';

/**
 * Translates an error's sentence to the language of the request. The sentences of packages/api are
 * English, and the JSON endpoints answer them in every language. A sentence without a translation
 * is replaced by the general one for its code.
 */
export function translateError(sentence: string, code: string): string {
  if (language() !== 'de') return sentence;
  if (Object.hasOwn(germanSentences, sentence)) return germanSentences[sentence] as string;
  const pattern = germanPatterns.find(([form]) => form.test(sentence));
  if (pattern !== undefined) return sentence.replace(...pattern);
  return Object.hasOwn(germanByCode, code) ? germanByCode[code as ErrorCode] : germanByCode.INTERNAL;
}

/** Translates the sentences of an error's body. */
export function translateBody<Body extends { error: string; code: string; fields?: Record<string, string> }>(
  body: Body,
): Body {
  const { error, code, fields } = body;
  const translated = Object.entries(fields ?? {}).map(([name, sentence]) => [name, translateError(sentence, code)]);
  return { ...body, error: translateError(error, code), ...(fields && { fields: Object.fromEntries(translated) }) };
}
