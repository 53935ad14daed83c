import type { RequestEvent } from '@sveltejs/kit';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import type { Operators } from '../require-operator.ts';

/** Runs the action of a form, and redirects to the page of the form with `done`. */
export function consoleAction(
  done: string,
  call: (operators: Operators, form: FormData, event: RequestEvent) => Promise<unknown>,
) {
  return formAction(({ operators }, form, event) => call(operators, form, event), {
    done: (_form, _answer, { url }) => `${url.pathname}?done=${done}`,
  });
}

/** The form action of every "Sync now" button. */
export const sync = consoleAction('synced', (operators, form) =>
  operators.syncNow({ subscription_id: text(form, 'subscription_id') }),
);

const doneTexts: Record<string, string> = {
  applied: 'Applied again. What it asks of the provider is done in the background.',
  synced: 'Synced: the row says what the provider says now.',
};

/** Returns the notice for the action before the redirect, or null. */
export function doneOf({ url }: Pick<RequestEvent, 'url'>): string | null {
  const done = url.searchParams.get('done') ?? '';
  return Object.hasOwn(doneTexts, done) ? (doneTexts[done] ?? null) : null;
}
