import { formAction } from '#lib/forms/form-action.ts';
import { requireOperator } from '../../require-operator.ts';
import { sync } from '../sync-action.ts';
import type { Actions, PageServerLoad } from './$types';
import { reportLines } from './report-lines.ts';

export const load: PageServerLoad = async (event) => ({ drift: await requireOperator(event).drift() });

export const actions: Actions = {
  sync,
  compare: formAction(({ operators }) => operators.compareNow(), {
    done: (_form, report) => ({ found: reportLines(report) }),
  }),
};
