import { frameTexts } from '#lib/messages/shared/frame.ts';

interface NavigationLink {
  href: string;
  name: string;
  /** The paths at and below which are the pages that users reach by the link; by default its own. */
  places?: string[];
}

/** The links of the top bar. */
export function topLinks({ operator }: { operator: boolean }): NavigationLink[] {
  const t = frameTexts();
  return [
    { href: '/', name: t.home, places: [] },
    { href: '/members', name: t.members, places: ['/members', '/organisation', '/keys'] },
    { href: '/billing', name: t.billing },
    { href: '/account', name: t.account },
    ...(operator ? [{ href: '/operator', name: t.operator }] : []),
  ];
}

/** The aria-current of a link: 'page' on its page, 'true' on the other pages that users reach by it. */
export function ariaCurrent(
  path: string,
  { href, places = [href] }: Pick<NavigationLink, 'href' | 'places'>,
): 'page' | 'true' | undefined {
  if (path === href) return 'page';
  return places.some((place) => path === place || path.startsWith(`${place}/`)) ? 'true' : undefined;
}
