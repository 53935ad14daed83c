import { texts } from '#lib/language/texts.ts';
import type { Notice } from './notice.ts';

type Refusal = { otherUser?: boolean; error?: string; invitation?: { token: string } };

/**
 * The notice for a form that was refused because another user has signed in since, with a link that loads its page
 * again; null for any other answer. `at` is the address of the page, or that of the form's action without a script.
 */
export function otherUserNotice(answer: unknown, at: Pick<URL, 'pathname' | 'search'>): Notice | null {
  const { otherUser, error, invitation } = (answer ?? {}) as Refusal;
  if (!otherUser || error === undefined) return null;

  const ofAction = invitation === undefined ? '' : `?${new URLSearchParams({ token: invitation.token })}`;
  const query = at.search.startsWith('?/') ? ofAction : at.search;
  return { text: [error], tone: 'warn', action: { label: texts('form').reload, href: at.pathname + query } };
}
