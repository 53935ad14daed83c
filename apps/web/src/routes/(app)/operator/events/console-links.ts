import { error as httpError, type RequestEvent, redirect } from '@sveltejs/kit';
import { actionFailure } from '#lib/forms/form-action.ts';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';

type Operators = App.Locals['api']['operators'];

/** Returns the operators' part of the router. Responds 403 if the user is not an operator. */
export function requireOperatorConsole(event: RequestEvent): Operators {
  if (!requirePage(event).user.operator) httpError(403, 'This page is for operators.');
  return event.locals.api.operators;
}

/** Runs the action of a button, and redirects to the page of the button with `done`. */
export async function act(event: RequestEvent, done: string, call: (form: FormData) => Promise<unknown>) {
  const form = await formFields(event.request);
  try {
    await call(form);
  } catch (error) {
    return actionFailure(event, error, () => ({}));
  }
  redirect(303, `${event.url.pathname}?done=${done}`);
}

/** The form action of every "Sync now" button. */
export function sync(event: RequestEvent) {
  return act(event, 'synced', (form) =>
    event.locals.api.operators.syncNow({ subscription_id: text(form, 'subscription_id') }),
  );
}

const doneTexts: Record<string, string> = {
  applied: 'Applied again. What it asks of the provider is done in the background.',
  synced: 'Synced: the row says what the provider says now.',
};

/** Returns the notice for the action before the redirect, or null. */
export function doneOf({ url }: Pick<RequestEvent, 'url'>): string | null {
  const done = url.searchParams.get('done') ?? '';
  return Object.hasOwn(doneTexts, done) ? (doneTexts[done] ?? null) : null;
}
