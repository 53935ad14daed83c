import { chooseLanguage } from '@gatehouse/api/http/choose-language';
import { readBody } from '@gatehouse/api/http/read-body';
import type { RequestSource } from '@gatehouse/api/http/request';
import type { RequestEvent } from '@sveltejs/kit';
import type { Language } from '#lib/language/language.ts';

type LanguageEvent = Pick<RequestEvent, 'locals' | 'cookies' | 'request'>;

/** The language of a request. It is chosen when it is first needed: a redirect has no text. */
export function languageOf({ locals, cookies, request }: LanguageEvent): Language {
  locals.language ??= chooseLanguage(locals.app, { cookies, headers: request.headers });
  return locals.language;
}

/** Describes a request of Kit to the steps that it shares with those of the API. */
export function requestSourceOf(event: RequestEvent): RequestSource {
  const { request, url, cookies } = event;
  const { method, headers, signal } = request;
  return {
    method,
    pathname: url.pathname,
    headers,
    cookies,
    client: { address: event.getClientAddress() },
    signal,
    language: () => languageOf(event),
    readBytes: (maxBytes) => readBody(request.body, maxBytes),
  };
}
