import { focusNotice, showNotice } from '#lib/notices/current.svelte.ts';
import type { SubmitFunction } from '$app/forms';
import { unansweredText } from './unanswered.ts';

/**
 * The state of one form's submission, for use:enhance={submission.enhance}. While it is pending a
 * second submit does nothing, and `submitter` is the button that was pressed. Without an answer,
 * or after a failure of the server, the page and what was typed stay.
 */
export class Submission {
  pending = $state(false);
  submitter = $state<HTMLElement | null>(null);

  enhance: SubmitFunction = ({ cancel, submitter }) => {
    if (this.pending) return cancel();
    this.pending = true;
    this.submitter = submitter;

    return async ({ result, update }) => {
      const unanswered = result.type === 'error' ? unansweredText(result.error, navigator.onLine) : null;
      if (unanswered) {
        showNotice({ text: [unanswered], tone: 'warn' });
      } else {
        await update({ reset: false });
        focusNotice();
      }

      // A redirect to another origin has yet to leave this page: the button stays pending.
      if (result.type !== 'redirect' || isHere(result.location)) this.pending = false;
    };
  };
}

function isHere(location: string): boolean {
  return new URL(location, window.location.href).origin === window.location.origin;
}
