import { recordFailure, rejectionHeaders } from '@gatehouse/api/http/error-response';
import type { RequestEvent } from '@sveltejs/kit';
import { escapeMarkup } from '#lib/branding/escape-markup.ts';
import { texts } from '#lib/language/texts.ts';
import errorPage from '../../../error.html?raw';
import { pageErrorOf } from '../language/page-error.ts';
import { languageOf } from '../request-source.ts';

type RejectedRequest = Pick<RequestEvent, 'isDataRequest' | 'locals' | 'cookies' | 'request'>;

/** The methods that a path allows; null for any, because Kit checks those of pages. It would run a page's load for any. */
export function methodsOf({ isDataRequest }: Pick<RequestEvent, 'isDataRequest'>): string[] | null {
  return isDataRequest ? ['GET', 'HEAD'] : null;
}

/**
 * The response to a request that a guard rejects before any route: the page that Kit shows for such errors, with the
 * service's name in its title. Kit's own has no name, because it is written at build time.
 */
export function rejectRequest({ isDataRequest, locals, cookies, request }: RejectedRequest, thrown: unknown): Response {
  recordFailure(locals, thrown);
  const headers = rejectionHeaders(thrown, methodsOf({ isDataRequest }));
  const { status, body, retryAfterSeconds } = pageErrorOf(thrown);
  const t = texts('error');
  const { name } = locals.app.config.service;
  const html = errorPage
    .replace('<html lang="en"', `<html lang="${languageOf({ locals, cookies, request })}"`)
    .replace('Nothing was changed. Load the page again in a moment.', t.busy.text)
    .replace('Go to the home page', t.goHome)
    .replace('Number %sveltekit.status%', t.numberOf({ status }))
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
