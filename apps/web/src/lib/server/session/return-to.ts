/**
 * The return_to parameter of a URL; null without one. Many reverse proxies can insert a URL but not encode
 * it: a value that starts unencoded extends to the end of the query, with its own parameters.
 */
export function returnTo({ search, searchParams }: URL): string | null {
  const unencoded = /[?&]return_to=(https?:\/\/.*)$/i.exec(search)?.[1];
  return unencoded ?? searchParams.get('return_to');
}
