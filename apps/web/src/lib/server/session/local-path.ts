/** The path of the page that had a form, as the form's field names it; '/' for anything but a path of this service. */
export function localPath(from: string, url: URL): string {
  if (!URL.canParse(from, url.origin)) return '/';
  const target = new URL(from, url.origin);
  return target.origin === url.origin && !target.pathname.startsWith('//') ? target.pathname : '/';
}
