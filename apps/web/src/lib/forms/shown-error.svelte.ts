import { page } from '$app/state';

/**
 * The error of a field until the user changes the field. The next failure of the form shows it
 * again, also with the same text.
 */
export class ShownError {
  #error: () => string | undefined;
  /** The form result that the user has changed the field after. */
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
