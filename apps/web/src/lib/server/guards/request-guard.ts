import type { Config } from '@gatehouse/api/config';
import { AppError } from '@gatehouse/api/errors';
import { presentedKey } from '@gatehouse/api/keys/read-key';
import { largestBodyOf, methodsOf } from '../http/endpoints.ts';
import { tooLarge } from '../http/read-body.ts';
import { isSameOrigin } from './same-origin.ts';

type Endpoint = { pathname: string; isPageData: boolean };

/**
 * Checks a request before its principal is resolved, in this order: the method, the announced
 * size of the body, the origin.
 *
 * @throws AppError METHOD_NOT_ALLOWED, TOO_LARGE or FOREIGN_ORIGIN.
 */
export function guardRequest({ method, headers }: Request, endpoint: Endpoint, config: Config): void {
  const { pathname } = endpoint;
  // Without a token /metrics does not exist, so every method answers 404.
  const methods = pathname === '/metrics' && config.metricsToken === null ? null : methodsOf(endpoint);
  if (methods !== null && !methods.includes(method)) {
    throw new AppError('METHOD_NOT_ALLOWED', 'This method is not allowed here.');
  }
  if (Number(headers.get('content-length') ?? 0) > largestBodyOf(pathname)) throw tooLarge();

  const origin = headers.get('origin');
  const fetchSite = headers.get('sec-fetch-site');
  // No page of another site can send a key, and a request with a key is not judged by its cookies.
  if (presentedKey(headers.get('authorization')) !== null) return;
  if (!isSameOrigin({ method, pathname, origin, fetchSite, publicBaseUrl: config.publicBaseUrl })) {
    throw new AppError('FOREIGN_ORIGIN', 'This request comes from another site.');
  }
}
