import { formAction } from '#lib/forms/form-action.ts';
import { doneOf, requireOperatorConsole, sync } from '../console-links.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => ({
  drift: await requireOperatorConsole(event).drift(),
  done: doneOf(event),
});

export const actions: Actions = {
  sync,
  compare: formAction(({ operators }) => operators.compareNow(), { done: (_form, { lines }) => ({ found: lines }) }),
};
