/** The path of the page that had a form, as the form's field names it; '/' for anything but a path of this service. */
export function localPath(from: string, url: URL): string {
  return localUrl(from, url)?.pathname ?? '/';
}

/** As `localPath`, with the query. */
export function localPage(page: string, url: URL): string {
  const target = localUrl(page, url);
  return target === null ? '/' : target.pathname + target.search;
}

function localUrl(text: string, url: URL): URL | null {
  if (!URL.canParse(text, url.origin)) return null;
  const target = new URL(text, url.origin);
  return target.origin === url.origin && !target.pathname.startsWith('//') ? target : null;
}
