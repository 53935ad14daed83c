import { navigating, page } from '$app/state';

/** The path that the navigation marks: that of a link as soon as it is clicked, before its page has been read. */
export function currentPath(): string {
  return navigating.to?.url.pathname ?? page.url.pathname;
}
