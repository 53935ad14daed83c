import { page } from '$app/state';

/** The result of the form at the time when a later submission got an answer that is a notice: `hideFailure`. */
let hidden = $state.raw<unknown>(null);

/**
 * Hides the failure that the page shows, because a notice about a later submission takes its place: both at once would
 * contradict each other. The form's result stays, with what was typed. The next failure is shown again.
 */
export function hideFailure(): void {
  hidden = page.form;
}

/** Whether a notice has taken the place of the failure that the page got last. */
export function failureIsHidden(): boolean {
  return hidden !== null && hidden === page.form;
}

/**
 * The error of a field until the user changes the field. The next failure of the form shows it
 * again, also with the same text.
 */
export class ShownError {
  #error: () => string | undefined;
  /** The result of the form at the time when the user last changed the field. */
  #editedAfter = $state.raw<unknown>(undefined);

  constructor(error: () => string | undefined) {
    this.#error = error;
  }

  get text(): string | undefined {
    return this.#editedAfter === page.form || failureIsHidden() ? undefined : this.#error();
  }

  edited = (): void => {
    this.#editedAfter = page.form;
  };
}
