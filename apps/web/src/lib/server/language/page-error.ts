import { type ErrorBody, httpErrorOf } from '@gatehouse/api/http/error-response';
import { type ErrorCode, errorCodes, type Text, toAppError } from '@gatehouse/api/platform/errors';
import { sentenceIn } from '@gatehouse/api/platform/messages';
import { language } from '#lib/language/language.ts';
import { texts } from '#lib/language/texts.ts';

/** The status and body with which a page answers a thrown error: those of JSON, in the language of the request. */
export function pageErrorOf(thrown: unknown): { status: number; body: ErrorBody; retryAfterSeconds?: number } {
  const { body, ...answer } = httpErrorOf(thrown);
  const { code, text, pageText, fieldTexts } = toAppError(thrown);
  const fields = Object.entries(fieldTexts ?? {}).map(([name, each]) => [name, sentenceOf(each, code)]);
  return {
    ...answer,
    body: {
      ...body,
      error: sentenceOf(pageText ?? text, code),
      ...(fieldTexts && { fields: Object.fromEntries(fields) }),
    },
  };
}

/**
 * Returns what an error says in the language of the request. A text that is English alone is replaced by the general
 * one for the error's code, or where that has none for the first code of its status.
 */
export function sentenceOf(text: Text, code: ErrorCode): string {
  const current = language();
  if (typeof text !== 'string') return sentenceIn(current, text);
  return current === 'en' ? text : generalText(code);
}

function generalText(code: ErrorCode): string {
  const general: Partial<Record<ErrorCode, string>> = texts('apiErrorOf');
  const sameStatus = codes.filter((each) => errorCodes[each].status === errorCodes[code].status);
  return general[code] ?? general[sameStatus[0] ?? 'INTERNAL'] ?? texts('apiErrorOf').INTERNAL;
}

const codes = Object.keys(errorCodes) as ErrorCode[];
