import { type ErrorBody, httpErrorOf } from '@gatehouse/api/http/error-response';
import { type ErrorCode, type Text, toAppError } from '@gatehouse/api/platform/errors';
import { type Message, sentenceIn } from '@gatehouse/api/platform/messages';
import { language } from '#lib/language/language.ts';
import { texts } from '#lib/language/texts.ts';

/** The status and body with which a page answers a thrown error: those of JSON, in the language of the request. */
export function pageErrorOf(thrown: unknown): { status: number; body: ErrorBody; retryAfterSeconds?: number } {
  const { body, ...answer } = httpErrorOf(thrown);
  const { code, text, fieldTexts } = toAppError(thrown);
  const fields = Object.entries(fieldTexts ?? {}).map(([name, each]) => [name, sentenceOf(each, code)]);
  return {
    ...answer,
    body: { ...body, error: sentenceOf(text, code), ...(fieldTexts && { fields: Object.fromEntries(fields) }) },
  };
}

/**
 * Returns what an error says in the language of the request. A text that is English alone is replaced by the general
 * one for the error's code.
 */
export function sentenceOf(text: Text, code: ErrorCode): string {
  const current = language();
  if (typeof text !== 'string') return onPages(text) ?? sentenceIn(current, text);
  return current === 'en' ? text : texts('apiErrorOf')[code];
}

/** The page's own text of an error whose English sentence is fixed for programs; undefined for any other. */
function onPages({ id }: Message): string | undefined {
  const own: Partial<Record<Message['id'], string>> = texts('apiErrorOnPages');
  return own[id];
}
