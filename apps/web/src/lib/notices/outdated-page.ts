import { texts } from '#lib/language/texts.ts';
import type { Notice } from './notice.ts';

type Refusal = { outdated?: boolean; error?: string; invitation?: { token: string } };

/**
 * The notice for a form that was refused because another user has signed in since, or another tab switched the
 * organisation, with a link that loads its page again; null for any other answer. `at` is the address of the page, or that of the form's action without a script.
 */
export function outdatedPageNotice(answer: unknown, at: Pick<URL, 'pathname' | 'search'>): Notice | null {
  const { outdated, error, invitation } = (answer ?? {}) as Refusal;
  if (!outdated || error === undefined) return null;

  const ofAction = invitation === undefined ? '' : `?${new URLSearchParams({ token: invitation.token })}`;
  const query = at.search.startsWith('?/') ? ofAction : at.search;
  return { text: [error], tone: 'warn', action: { label: texts('form').reload, href: at.pathname + query } };
}
