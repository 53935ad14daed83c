/**
 * Where a request wants somebody sent back to. A reverse proxy can often write an
 * address but not encode it: one that begins in clear reaches to the end of the query,
 * with whatever parameters of its own it has.
 */
export function returnTo({ search, searchParams }: URL): string | null {
  const clear = /[?&]return_to=(https?:\/\/.*)$/i.exec(search)?.[1];
  return clear ?? searchParams.get('return_to');
}
