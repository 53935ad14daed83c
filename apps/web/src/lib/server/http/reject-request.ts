import { isEndpointPath } from '@gatehouse/api/http/answer-endpoint';
import { errorResponse, httpErrorOf, recordFailure, rejectionHeaders } from '@gatehouse/api/http/error-response';
import { methodsOf } from '@gatehouse/api/http/request-guard';
import type { RequestEvent } from '@sveltejs/kit';
import { escapeMarkup } from '#lib/branding/escape-markup.ts';
import { errorTexts } from '#lib/messages/shared/errors.ts';
import errorPage from '../../../error.html?raw';
import { translateBody } from '../language/translate-error.ts';
import { languageOf } from '../request-source.ts';

type RejectedRequest = Pick<RequestEvent, 'url' | 'isDataRequest' | 'locals' | 'cookies' | 'request'>;

/**
 * The response to a request that a guard rejects before any route: JSON on the paths of the API,
 * elsewhere the page that Kit shows for such errors, with the service's name in its title. Kit's
 * own has no name, because it is written at build time.
 */
export function rejectRequest(
  { url: { pathname }, isDataRequest, locals, cookies, request }: RejectedRequest,
  thrown: unknown,
): Response {
  recordFailure(locals, thrown);
  const headers = rejectionHeaders(thrown, methodsOf({ pathname, isPageData: isDataRequest }, locals.app.config));
  if (isJsonPath(pathname)) return errorResponse(thrown, headers);

  const { status, body: english, retryAfterSeconds } = httpErrorOf(thrown);
  const body = translateBody(english);
  const t = errorTexts();
  const { name } = locals.app.config.service;
  const html = errorPage
    .replace('<html lang="en"', `<html lang="${languageOf({ locals, cookies, request })}"`)
    .replace('Nothing was changed. Load the page again in a moment.', t.busy.text)
    .replace('Go to the home page', t.goHome)
    .replace('Number %sveltekit.status%', t.numberOf(status))
    .replace('</title>', () => ` – ${escapeMarkup(name)}</title>`)
    .replaceAll('%sveltekit.error.message%', () => escapeMarkup(body.error));
  return new Response(html, {
    status,
    headers: {
      ...headers,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src-attr 'unsafe-inline'; frame-ancestors 'none'",
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    },
  });
}

/** Whether a path answers in JSON, errors included. */
function isJsonPath(pathname: string): boolean {
  return isEndpointPath(pathname) || pathname.startsWith('/api/trpc/');
}
