import type { Notice, ShownNotice } from './notice.ts';

/**
 * The notice on the page. Only a browser writes it, so that requests on a server never share one:
 * a server renders the notice of the page's data.
 */
export const current = $state<{ notice: ShownNotice | null }>({ notice: null });

let last = 0;
let focusedId: string | null = null;
let place: HTMLElement | null = null;

/** Shows what happened in this browser only, such as a form without an answer. The focus stays. */
export function showNotice(notice: Notice): void {
  last += 1;
  const id = `here-${last}`;
  focusedId = id;
  current.notice = { ...notice, id };
}

export function dismissNotice(): void {
  current.notice = null;
}

/** An attachment that registers the element that shows the notice. */
export function placeNotice(element: HTMLElement): () => void {
  place = element;
  // Only for the browser that loaded the page: Kit would move the focus here on every navigation.
  element.removeAttribute('autofocus');
  return () => {
    place = null;
  };
}

/**
 * Moves the focus to a notice that has not had it: to the element that the notice names, else to
 * the notice itself. Called after Kit has put the focus elsewhere.
 */
export function focusNotice(): void {
  const { notice } = current;
  if (notice === null || notice.id === focusedId) return;

  focusedId = notice.id;
  const target = notice.focus === undefined ? null : document.getElementById(notice.focus);
  (target ?? place)?.focus();
}
