import { texts } from '#lib/language/texts.ts';

export interface NavigationLink {
  href: string;
  name: string;
  /** The link is current at these paths and below them; by default at and below its own. */
  paths?: string[];
}

/** The links of the top bar. */
export function topLinks({ operator }: { operator: boolean }): NavigationLink[] {
  const t = texts('frame');
  return [
    { href: '/', name: t.home, paths: [] },
    { href: '/members', name: t.members },
    { href: '/billing', name: t.billing },
    { href: '/organisation', name: t.settings, paths: ['/organisation', '/keys'] },
    ...(operator ? [{ href: '/operator', name: t.operator }] : []),
  ];
}

/** The aria-current of a link: 'page' on its page, 'true' at and below its other paths. */
export function ariaCurrent(
  path: string,
  { href, paths = [href] }: Pick<NavigationLink, 'href' | 'paths'>,
): 'page' | 'true' | undefined {
  if (path === href) return 'page';
  return paths.some((start) => path === start || path.startsWith(`${start}/`)) ? 'true' : undefined;
}
