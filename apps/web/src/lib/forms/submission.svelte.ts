import { showToast } from '#lib/toasts.svelte.ts';
import type { SubmitFunction } from '$app/forms';

/**
 * The state of one form's submission, for use:enhance={submission.enhance}. While it is pending a
 * second submit does nothing, and `submitter` is the button that was pressed.
 */
export class Submission {
  pending = $state(false);
  submitter = $state<HTMLElement | null>(null);

  enhance: SubmitFunction = ({ cancel, submitter }) => {
    if (this.pending) return cancel();
    this.pending = true;
    this.submitter = submitter;

    return async ({ result, update }) => {
      // Without a response the page keeps what was typed.
      if (result.type === 'error' && !navigator.onLine) showToast('You are offline. Try again once you are back.');
      else await update({ reset: false });

      // A redirect to another origin has yet to leave this page: the button stays pending.
      if (result.type !== 'redirect' || isHere(result.location)) this.pending = false;
    };
  };
}

function isHere(location: string): boolean {
  return new URL(location, window.location.href).origin === window.location.origin;
}
