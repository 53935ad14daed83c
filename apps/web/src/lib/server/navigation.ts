/**
 * Whether a request is a navigation of a browser's own tab, by its metadata (Fetch Metadata §2):
 * not an image, frame, script or prefetch of some page, which another site's page can make the
 * browser send as often as it likes. Without the headers it counts as one: browsers before 2023
 * send none, and neither do programs.
 */
export function isNavigation(headers: Headers): boolean {
  const mode = headers.get('sec-fetch-mode') ?? 'navigate';
  const destination = headers.get('sec-fetch-dest') ?? 'document';
  return mode === 'navigate' && destination === 'document' && !isPrefetch(headers);
}

/** Whether the browser fetches a page before the user has asked for it. */
export function isPrefetch(headers: Headers): boolean {
  return ['sec-purpose', 'purpose', 'x-moz'].some((name) => headers.get(name)?.toLowerCase().includes('prefetch'));
}

/** @throws where the request is no navigation: the sign-in routes answer that like any failure, and count nothing. */
export function requireNavigation(headers: Headers): void {
  if (!isNavigation(headers)) throw new Error('the request is no navigation');
}
