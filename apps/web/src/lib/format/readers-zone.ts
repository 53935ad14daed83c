import { createSubscriber } from 'svelte/reactivity';

/** Set in a browser only: on the server all requests share this module. */
let zone: string | null = null;
let changed = () => {};

/** Not a rune, because tests import this module without Svelte's compiler. */
const subscribe = createSubscriber((update) => {
  changed = update;
});

/**
 * The reader's time zone; null on the server and until the page has loaded. Then every date and
 * time of the page is written again, in this zone.
 */
export function readersZone(): string | null {
  subscribe();
  return zone;
}

/** Sets the zone to this browser's. Call it after hydration, which needs the texts that the server rendered. */
export function setReadersZone(): void {
  zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  changed();
}
