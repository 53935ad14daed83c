import type { Notice, ShownNotice } from './notice.ts';

/**
 * The notice on the page. Only a browser writes it, so that requests on a server never share one:
 * a server renders the notice of the page's data.
 */
export const current = $state<{
  notice: ShownNotice | null;
  /** The id of the notice that was shown last and is gone. */
  dismissedId: string | null;
}>({ notice: null, dismissedId: null });

let lastNumber = 0;
let focusedId: string | null = null;
let noticeElement: HTMLElement | null = null;

/** Shows a notice that the server did not send, such as one about a form without an answer. The focus stays. */
export function showNotice(notice: Notice): void {
  lastNumber += 1;
  const id = `here-${lastNumber}`;
  focusedId = id;
  current.notice = { ...notice, id };
}

/**
 * How long a notice stays, in milliseconds: long enough to read it. Null for a notice that stays until it is closed,
 * because it has something to do (such as Undo), or says what did not happen.
 */
export function shownFor({ text, tone, action }: Notice): number | null {
  if (action || tone === 'warn') return null;
  const length = JSON.stringify(text).length;
  return 5000 + length * 50;
}

export function dismissNotice(): void {
  current.dismissedId = current.notice?.id ?? current.dismissedId;
  current.notice = null;
}

/** An attachment that registers the element that shows the notice. */
export function registerNotice(element: HTMLElement): () => void {
  noticeElement = element;
  // The attribute is for the load of the page alone: Kit would move the focus here on every navigation.
  element.removeAttribute('autofocus');
  return () => {
    noticeElement = null;
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
  const named = notice.focus ?? notice.row;
  const target = named === undefined ? null : document.getElementById(named);
  (target ?? noticeElement)?.focus();
}
