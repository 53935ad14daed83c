/** The page that a form stood on, which every page's header carries: a path of this service, whatever was sent. */
export function pathHere(from: string, url: URL): string {
  if (!URL.canParse(from, url.origin)) return '/';
  const target = new URL(from, url.origin);
  return target.origin === url.origin && !target.pathname.startsWith('//') ? target.pathname : '/';
}
