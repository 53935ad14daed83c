import { texts } from '#lib/language/texts.ts';
import { current, dismissNotice, focusNotice, showNotice } from '#lib/notices/current.svelte.ts';
import { outdatedPageNotice } from '#lib/notices/outdated-page.ts';
import { applyAction, type SubmitFunction } from '$app/forms';
import { hideFailure } from './shown-error.svelte.ts';
import { unansweredText } from './unanswered-text.ts';

/**
 * The state of one form's submission, for use:enhance={submission.enhance}. While it is pending a
 * second submit does nothing, and `submitter` is the button that was pressed. Without an answer,
 * after a failure of the server, or where the page is of another user or organisation, the page and what was typed stay.
 * An error of the page's own form is applied in place: Kit would go to the address of the action, without the query that
 * opened the form, and what was typed would be lost.
 */
export class Submission {
  pending = $state(false);
  submitter = $state<HTMLElement | null>(null);
  /** Whether the page's data is read again after success. Not where the answer is shown once, and the page leads on. */
  readonly #reloads: boolean;

  /** Whether a failure is shown on this page although the form's action is on another one. */
  readonly #staysHere: boolean;

  constructor({ reloads = true, staysHere = false }: { reloads?: boolean; staysHere?: boolean } = {}) {
    this.#reloads = reloads;
    this.#staysHere = staysHere;
  }

  enhance: SubmitFunction = ({ action, cancel, submitter }) => {
    if (this.pending) return cancel();
    const before = current.notice;
    this.pending = true;
    this.submitter = submitter;

    return async ({ result, update }) => {
      const unanswered =
        result.type === 'error' ? unansweredText(result.error, navigator.onLine, texts('form').kept) : null;
      const outdated = result.type === 'failure' ? outdatedPageNotice(result.data, window.location) : null;
      if (unanswered) {
        hideFailure();
        showNotice({ text: [unanswered], tone: 'warn' });
      } else if (outdated) {
        hideFailure();
        showNotice(outdated);
      } else if (result.type === 'failure' && (this.#staysHere || action.pathname === window.location.pathname)) {
        await applyAction(result);
      } else {
        // Unset it means after success alone: `true` would read the data again after a failure too.
        await update({ reset: false, ...(!this.#reloads && { refreshAll: false }) });
        // The notice of an earlier form would cover the answer that the page shows.
        if (result.type === 'success' && current.notice?.id === before?.id) dismissNotice();
        focusNotice();
      }

      // A redirect to another origin has yet to leave this page: the button stays pending.
      if (result.type !== 'redirect' || isSameOrigin(result.location)) this.pending = false;
    };
  };
}

function isSameOrigin(location: string): boolean {
  return new URL(location, window.location.href).origin === window.location.origin;
}
