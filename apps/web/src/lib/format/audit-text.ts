import { locale } from '#lib/language/language.ts';
import { texts } from '#lib/language/texts.ts';
import type { RouterOutputs } from '#lib/router.ts';

export type Action = RouterOutputs['accounts']['activity'][number]['action'];

/** "Signed in". An action of a newer version is shown by its code. */
export function auditText(action: string): string {
  const actions: Record<Action, string> = texts('audit');
  return Object.hasOwn(actions, action) ? actions[action as Action] : action;
}

/** The text of every action, by the alphabet, for a choice among them. */
export function auditTexts(): { value: Action; text: string }[] {
  const all = Object.entries(texts('audit')) as [Action, string][];
  return all
    .map(([value, text]) => ({ value, text }))
    .sort((one, other) => one.text.localeCompare(other.text, locale()));
}
