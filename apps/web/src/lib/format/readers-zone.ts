import { SvelteMap } from 'svelte/reactivity';

/** Only a browser writes it, so that requests on a server never share one. */
const known = new SvelteMap<'zone', string>();

/**
 * The reader's time zone; null on the server and until the page has loaded. Then every date and
 * time of the page is written again, in this zone.
 */
export function readersZone(): string | null {
  return known.get('zone') ?? null;
}

/** Takes the time zone of this browser. To be called once the page is hydrated, which needs the server's words. */
export function takeReadersZone(): void {
  known.set('zone', Intl.DateTimeFormat().resolvedOptions().timeZone);
}
