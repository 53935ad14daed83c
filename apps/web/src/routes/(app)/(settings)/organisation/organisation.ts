import type { FormFailure } from '#lib/forms/form-errors.ts';
import type { PageData } from './$types';

/** The organisation as the dialogs of the page show it. */
export type ShownOrganisation = NonNullable<PageData['organisation']>;

export type Failure = FormFailure & { typed: { email: string; from: string } };
