/**
 * Whether a request is a navigation of a browser's own tab, by its metadata (Fetch Metadata §2):
 * not an image, frame, script or prefetch, which another site's page can make the browser send
 * any number of times. Without these headers a request counts as a navigation: browsers before
 * 2023 send none. Node's fetch sends the mode `cors` alone; a browser never sends a mode without
 * a destination, so such a request comes from a program and counts as a navigation too.
 */
export function isNavigation(headers: Headers): boolean {
  const mode = headers.get('sec-fetch-mode') ?? 'navigate';
  const destination = headers.get('sec-fetch-dest');
  const isProgram = mode === 'cors' && destination === null;
  const isPage = mode === 'navigate' && (destination === null || destination === 'document');
  return (isPage || isProgram) && !isPrefetch(headers);
}

/** Whether the browser fetches a page before the user has asked for it. */
export function isPrefetch(headers: Headers): boolean {
  return ['sec-purpose', 'purpose', 'x-moz'].some((name) => headers.get(name)?.toLowerCase().includes('prefetch'));
}

/** @throws Error if the request is not a navigation: the sign-in routes answer it like any failure, and count no attempt. */
export function requireNavigation(headers: Headers): void {
  if (!isNavigation(headers)) throw new Error('the request is no navigation');
}
