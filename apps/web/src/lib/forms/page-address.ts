/**
 * The address to which a form of this page leads back, which the service answers with another look or language. Without
 * the name of an action, and without a token, which a form sends as a field of its own.
 */
export function pageAddress({ pathname, search }: Pick<URL, 'pathname' | 'search'>): string {
  return /^\?\/|[?&]token=/.test(search) ? pathname : pathname + search;
}
