import { createSubscriber } from 'svelte/reactivity';

/** Only a browser sets it: on a server all requests share this module. */
let zone: string | null = null;
let changed = () => {};

/** Not a rune, because tests import this module without Svelte's compiler. */
const subscribe = createSubscriber((update) => {
  changed = update;
});

/**
 * The user's time zone; null on the server and until the page has loaded. Then every date and
 * time of the page is written again, in this zone.
 */
export function userTimeZone(): string | null {
  subscribe();
  return zone;
}

/** Sets the time zone to this browser's. Call it after hydration, which needs the texts that the server rendered. */
export function setUserTimeZone(): void {
  zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  changed();
}
