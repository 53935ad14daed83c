import { formAction } from '#lib/forms/form-action.ts';
import { requireOperator } from '../../require-operator.ts';
import { doneOf, sync } from '../console-links.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => ({
  drift: await requireOperator(event).drift(),
  done: doneOf(event),
});

export const actions: Actions = {
  sync,
  compare: formAction(({ operators }) => operators.compareNow(), { done: (_form, { lines }) => ({ found: lines }) }),
};
