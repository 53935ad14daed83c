import { formTexts } from '#lib/messages/shared/forms.ts';
import type { Notice } from './notice.ts';

/** The notice for a form that was refused because another user has signed in since; null for any other answer. */
export function otherUserNotice(answer: unknown, path: string): Notice | null {
  const { otherUser, error } = (answer ?? {}) as { otherUser?: boolean; error?: string };
  if (!otherUser || error === undefined) return null;
  return { text: [error], tone: 'warn', action: { label: formTexts().reload, href: path } };
}
