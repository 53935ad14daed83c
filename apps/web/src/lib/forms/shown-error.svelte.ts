import { page } from '$app/state';

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
    return this.#editedAfter === page.form ? undefined : this.#error();
  }

  edited = (): void => {
    this.#editedAfter = page.form;
  };
}
