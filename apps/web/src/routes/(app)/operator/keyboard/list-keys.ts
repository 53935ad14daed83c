import type { Attachment } from 'svelte/attachments';
import { mayUseKeys } from './shortcuts.ts';

/**
 * Moves through the rows of a list by j and k, and presses an action of the focused row by its
 * key. A held key does not repeat an action. A row is an element with `data-row`, an action one
 * with `data-action`.
 */
export function listKeys(actions: Record<string, string>): Attachment<HTMLElement> {
  return (list) => {
    function press(event: KeyboardEvent) {
      if (!mayUseKeys(event)) return;

      if (event.key === 'j' || event.key === 'k') moveFocus(list, event.key === 'j' ? 1 : -1);
      else if (Object.hasOwn(actions, event.key) && !event.repeat) runAction(list, actions[event.key] ?? '');
      else return;
      event.preventDefault();
    }

    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  };
}

function moveFocus(list: HTMLElement, step: 1 | -1): void {
  const rows = [...list.querySelectorAll<HTMLElement>('[data-row]')];
  const current = rows.findIndex((row) => row.contains(document.activeElement));
  const next = current === -1 ? (step === 1 ? 0 : rows.length - 1) : current + step;
  rows[next]?.focus();
}

function runAction(list: HTMLElement, action: string): void {
  const row = [...list.querySelectorAll('[data-row]')].find((each) => each.contains(document.activeElement));
  const target = row?.querySelector<HTMLElement>(`[data-action="${action}"]`);
  target?.focus();
  target?.click();
}
