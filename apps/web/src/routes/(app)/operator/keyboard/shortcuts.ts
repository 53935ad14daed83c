import { texts } from '#lib/language/texts.ts';

const storageKey = 'gatehouse-shortcuts';

/** Every keyboard shortcut of the operator console, as its help lists them. */
export function shortcuts(): { keys: string[]; text: string }[] {
  const t = texts('console');
  return [
    { keys: ['j'], text: t.nextRow },
    { keys: ['k'], text: t.previousRow },
    { keys: ['a'], text: t.approveFocused },
    { keys: ['d'], text: t.declineFocused },
    { keys: [t.control, 'K'], text: t.openCommands },
    { keys: ['?'], text: t.showShortcuts },
  ];
}

/** Whether single-key shortcuts are on in this browser (WCAG 2.1.4: they can be turned off). */
export function areShortcutsOn(): boolean {
  try {
    return localStorage.getItem(storageKey) !== 'off';
  } catch {
    return true;
  }
}

/** Turns single-key shortcuts on or off in this browser. */
export function setShortcutsOn(on: boolean): void {
  try {
    if (on) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, 'off');
  } catch {
    // Without storage the shortcuts stay on.
  }
}

/** Whether a key press is a single-key shortcut: not typed into a field or a dialog, and without Ctrl, Alt or Meta. */
export function mayUseKeys(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  if (event.target instanceof HTMLElement && isTypedInto(event.target)) return false;
  return document.querySelector('dialog[open]') === null && areShortcutsOn();
}

function isTypedInto(element: HTMLElement): boolean {
  if (element instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'submit'].includes(element.type);
  return element.isContentEditable || element.matches('textarea, select, [role=menu] *');
}
