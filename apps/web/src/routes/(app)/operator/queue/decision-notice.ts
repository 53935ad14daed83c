import { texts } from '#lib/language/texts.ts';
import type { Notice } from '#lib/notices/notice.ts';
import { named } from '#lib/notices/notice.ts';

type Decision = { changed: number; first: { id: string; name: string; decided_at: string } | null };

/** The page with the form, which "Undo" returns to. `focus` is the id of the element that takes the focus. */
type FormPage = { from: 'queue' | 'organisation'; search?: string; focus?: string };

/** "Larch & Sons is approved.", with a button that undoes it, or all that were decided with it. */
export function decisionNotice(
  decision: 'approved' | 'declined',
  { changed, first }: Decision,
  { from, search = '', focus = '' }: FormPage,
): Notice {
  const t = texts('requestDone');
  if (first === null) return { text: t.alreadyDecided, tone: 'warn', focus };
  if (changed > 1) {
    const text =
      decision === 'approved' ? t.severalApproved({ count: changed }) : t.severalDeclined({ count: changed });
    const fields = { decided_at: first.decided_at, from, search };
    return { text, focus, action: { label: t.undo, post: '/operator/decided?/undoSeveral', fields } };
  }

  const fields = { organisation_id: first.id, decided_at: first.decided_at, from, search };
  return {
    text: decision === 'approved' ? t.approved({ name: named(first.name) }) : t.declined({ name: named(first.name) }),
    focus,
    action: { label: t.undo, post: '/operator/decided?/undo', fields },
  };
}
