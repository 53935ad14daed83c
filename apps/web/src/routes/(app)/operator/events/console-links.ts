import type { Caller } from '@gatehouse/api/router/root';
import { type RequestEvent, error as refuse } from '@sveltejs/kit';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';

type Operators = Caller['operators'];

/** The operators' part of the router, for whoever is one. */
export function requireOperatorConsole(event: RequestEvent): Operators {
  if (!requirePage(event).user.operator) refuse(403, 'This page is for operators.');
  return event.locals.api.operators;
}

/** A form of the console: redirects to the page that has it, which says what was done. */
export function consoleAction(
  done: string,
  call: (operators: Operators, form: FormData, event: RequestEvent) => Promise<unknown>,
) {
  return formAction(({ operators }, form, event) => call(operators, form, event), {
    done: (_form, _answer, { url }) => `${url.pathname}?done=${done}`,
  });
}

/** The action behind every "Sync now". */
export const sync = consoleAction('synced', (operators, form) =>
  operators.syncNow({ subscription_id: text(form, 'subscription_id') }),
);

const doneTexts: Record<string, string> = {
  applied: 'Applied again. What it asks of the provider is done in the background.',
  synced: 'Synced: the row says what the provider says now.',
};

/** What was just done, as the page says it after the redirect. */
export function doneOf({ url }: Pick<RequestEvent, 'url'>): string | null {
  const done = url.searchParams.get('done') ?? '';
  return Object.hasOwn(doneTexts, done) ? (doneTexts[done] ?? null) : null;
}
