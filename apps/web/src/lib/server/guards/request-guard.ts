import type { Config } from '@gatehouse/api/config';
import { AppError } from '@gatehouse/api/errors';
import { largestBodyOf, methodsOf } from '../http/endpoints.ts';
import { tooLarge } from '../http/read-body.ts';
import { isSameOrigin } from './same-origin.ts';

type Asked = { pathname: string; isPageData: boolean };

/**
 * What is actionFailure before anybody asks who it is, in this order: a method that is not
 * there, a body announced as too large, a foreign origin.
 *
 * @throws AppError METHOD_NOT_ALLOWED, TOO_LARGE or FOREIGN_ORIGIN.
 */
export function guardRequest({ method, headers }: Request, asked: Asked, config: Config): void {
  const { pathname } = asked;
  // Without its token /metrics is not there, whatever the method.
  const methods = pathname === '/metrics' && config.metricsToken === null ? null : methodsOf(asked);
  if (methods !== null && !methods.includes(method)) {
    throw new AppError('METHOD_NOT_ALLOWED', 'This method is not allowed here.');
  }
  if (Number(headers.get('content-length') ?? 0) > largestBodyOf(pathname)) throw tooLarge();

  const origin = headers.get('origin');
  const fetchSite = headers.get('sec-fetch-site');
  if (!isSameOrigin({ method, pathname, origin, fetchSite, publicBaseUrl: config.publicBaseUrl })) {
    throw new AppError('FOREIGN_ORIGIN', 'This request comes from another site.');
  }
}
