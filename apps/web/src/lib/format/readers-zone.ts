import { createSubscriber } from 'svelte/reactivity';

/** Only a browser writes it, so that requests on a server never share one. */
let zone: string | null = null;
let changed = () => {};

/** A rune would do, but tests read this module as it is written, without Svelte's compiler. */
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

/** Takes the time zone of this browser. To be called once the page is hydrated, which needs the server's words. */
export function takeReadersZone(): void {
  zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  changed();
}
