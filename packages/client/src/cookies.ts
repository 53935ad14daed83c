/** The source of a request's cookies: the Cookie header, a Fetch request, or a Node request. */
export type CookieSource =
  | string
  | { headers: { get: (name: string) => string | null } }
  | { headers: { cookie?: string | undefined } };

/** The names that a browser accepts from https alone. */
const prefixedNames = ['__Host-session', '__Secure-gatehouse'];

/**
 * Returns the cookies of a request that name a session of Gatehouse, as a Cookie header; '' without one.
 * The request's other cookies belong to the product and are not forwarded. A cookie named `session` counts only
 * if there is no other name of a session: Gatehouse uses it on http loopback.
 */
export function sessionCookies(source: CookieSource): string {
  const pairs = headerOf(source)
    .split(/;\s*/)
    .filter((pair) => pair.includes('='));
  const nameOf = (pair: string) => pair.slice(0, pair.indexOf('=')).trim();
  const found = pairs.filter((pair) => prefixedNames.includes(nameOf(pair)));
  return (found.length > 0 ? found : pairs.filter((pair) => nameOf(pair) === 'session')).join('; ');
}

function headerOf(source: CookieSource): string {
  if (typeof source === 'string') return source;
  const { headers } = source;
  if ('get' in headers && typeof headers.get === 'function') return headers.get('cookie') ?? '';
  return (headers as { cookie?: string | undefined }).cookie ?? '';
}
