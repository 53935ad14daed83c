import { auditTexts } from '#lib/messages/app/audit.ts';
import type { RouterOutputs } from '#lib/router.ts';

export type Action = RouterOutputs['accounts']['activity'][number]['action'];

/** "Signed in". An action of a newer version is shown by its code. */
export function auditText(action: string): string {
  const texts: Record<Action, string> = auditTexts();
  return Object.hasOwn(texts, action) ? texts[action as Action] : action;
}
