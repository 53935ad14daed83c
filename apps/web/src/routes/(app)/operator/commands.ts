/** The parts of the operator console, as its navigation shows them. */
export const sections = [
  { href: '/operator', name: 'Requests' },
  { href: '/operator/people', name: 'People' },
  { href: '/operator/organisations', name: 'Organisations' },
  { href: '/operator/events', name: 'Events' },
  { href: '/operator/keys', name: 'API keys' },
];

export interface Command {
  name: string;
  href: string;
}

const pages: Command[] = [
  ...sections,
  { name: 'Decided requests', href: '/operator/decided' },
  { name: 'Events that need attention', href: '/operator/events?flagged=true' },
  { name: 'Subscriptions out of sync', href: '/operator/events/drift' },
];

/** Returns the commands for what was typed: the pages whose name contains it, and a search of each list. */
export function commandsFor(typed: string): Command[] {
  const wanted = typed.trim().toLowerCase();
  const found = pages.filter(({ name }) => name.toLowerCase().includes(wanted));
  if (wanted === '') return found;

  const query = new URLSearchParams({ search: typed.trim() });
  return [
    ...found,
    { name: `Find people: ${typed.trim()}`, href: `/operator/people?${query}` },
    { name: `Find organisations: ${typed.trim()}`, href: `/operator/organisations?${query}` },
    { name: `Find requests: ${typed.trim()}`, href: `/operator?${query}` },
    { name: `Find events: ${typed.trim()}`, href: `/operator/events?${query}` },
  ];
}
