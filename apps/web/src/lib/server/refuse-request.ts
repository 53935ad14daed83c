import { toRefusal } from '@gatehouse/api/errors';
import errorPage from '../../error.html?raw';
import { isJsonPath, methodsOf } from './endpoints.ts';
import { refusal, refusalResponse } from './refusal.ts';

/**
 * The answer to a request that is turned away before any route sees it: JSON where the
 * path speaks JSON, else the bare page that Kit would show.
 */
export function refuseRequest({ pathname }: URL, thrown: unknown): Response {
  if (isJsonPath(pathname)) return refusalResponse(thrown, allowOf(pathname, thrown));

  const { status, body, retryAfterSeconds } = refusal(thrown);
  const html = errorPage.replaceAll('%sveltekit.status%', String(status));
  return new Response(html.replaceAll('%sveltekit.error.message%', body.error), {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src-attr 'unsafe-inline'; frame-ancestors 'none'",
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    },
  });
}

function allowOf(pathname: string, thrown: unknown): Record<string, string> {
  const methods = toRefusal(thrown).code === 'METHOD_NOT_ALLOWED' ? methodsOf(pathname) : null;
  return methods === null ? {} : { allow: methods.join(', ') };
}
