import { say } from '#lib/toasts.svelte.ts';
import type { SubmitFunction } from '$app/forms';

/**
 * One form's way to the server and back, for use:enhance={submission.enhance}. While it is under
 * way a second submit does nothing, and `pending` names the button that was pressed.
 */
export class Submission {
  pending = $state(false);
  submitter = $state<HTMLElement | null>(null);

  enhance: SubmitFunction = ({ cancel, submitter }) => {
    if (this.pending) return cancel();
    this.pending = true;
    this.submitter = submitter;

    return async ({ result, update }) => {
      // Without an answer the page stays as it is, with what was typed.
      if (result.type === 'error' && !navigator.onLine) say('You are offline. Try again once you are back.');
      else await update({ reset: false });

      // A redirect to another origin is still leaving this page: the button stays as it is.
      if (result.type !== 'redirect' || isHere(result.location)) this.pending = false;
    };
  };
}

function isHere(location: string): boolean {
  return new URL(location, window.location.href).origin === window.location.origin;
}
