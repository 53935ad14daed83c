import { type RequestEvent, redirect, error as refuse } from '@sveltejs/kit';
import { actionFailure } from '#lib/forms/form-action.ts';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';

type Operators = App.Locals['api']['operators'];

/** The operators' part of the router, for whoever is one. */
export function requireOperatorConsole(event: RequestEvent): Operators {
  if (!requirePage(event).user.operator) refuse(403, 'This page is for operators.');
  return event.locals.api.operators;
}

/** Does what a button asks for, and comes back to the page that it stands on. */
export async function act(event: RequestEvent, done: string, call: (form: FormData) => Promise<unknown>) {
  const form = await formFields(event.request);
  try {
    await call(form);
  } catch (error) {
    return actionFailure(event, error, () => ({}));
  }
  redirect(303, `${event.url.pathname}?done=${done}`);
}

/** The action behind every "Sync now". */
export function sync(event: RequestEvent) {
  return act(event, 'synced', (form) =>
    event.locals.api.operators.syncNow({ subscription_id: text(form, 'subscription_id') }),
  );
}

const doneInWords: Record<string, string> = {
  applied: 'Applied again. What it asks of the provider is done in the background.',
  synced: 'Synced: the row says what the provider says now.',
};

/** What was just done, as the page says it after the redirect. */
export function doneOf({ url }: Pick<RequestEvent, 'url'>): string | null {
  const done = url.searchParams.get('done') ?? '';
  return Object.hasOwn(doneInWords, done) ? (doneInWords[done] ?? null) : null;
}
