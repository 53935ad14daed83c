import type { NavigationLink } from '#lib/components/navigation.ts';
import { texts } from '#lib/language/texts.ts';

export type Command = { name: string; href: string };

/** The parts of the operator console, as its navigation shows them. */
export function sections(): NavigationLink[] {
  const t = texts('console');
  return [
    // Its path is a prefix of all others.
    { href: '/operator', name: t.requests, paths: ['/operator/decided'] },
    { href: '/operator/people', name: t.people },
    { href: '/operator/organisations', name: t.organisations },
    { href: '/operator/events', name: t.events },
    { href: '/operator/keys', name: t.keys },
    { href: '/operator/audit', name: t.audit },
  ];
}

/** Returns the commands for what was typed: the pages whose name contains it, and a search of each list. */
export function commandsFor(typed: string): Command[] {
  const t = texts('console');
  const wanted = typed.trim();
  const found = pages().filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
  if (wanted === '') return found;

  const query = new URLSearchParams({ search: wanted });
  return [
    ...found,
    { name: t.findPeople({ typed: wanted }), href: `/operator/people?${query}` },
    { name: t.findOrganisations({ typed: wanted }), href: `/operator/organisations?${query}` },
    { name: t.findRequests({ typed: wanted }), href: `/operator?${query}` },
    { name: t.findEvents({ typed: wanted }), href: `/operator/events?${query}` },
  ];
}

function pages(): Command[] {
  const t = texts('console');
  return [
    ...sections(),
    { name: t.decidedRequests, href: '/operator/decided' },
    { name: t.flaggedEvents, href: '/operator/events?flagged=true' },
    { name: t.outOfSync, href: '/operator/events/drift' },
  ];
}
