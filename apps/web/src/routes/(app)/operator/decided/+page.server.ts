import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { outcomeQuery, requestOutcome } from '../outcome.ts';
import { listQuery, requireOperator } from '../require-operator.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  const { after } = listQuery(event.url);
  return {
    now: new Date().toISOString(),
    later: after !== undefined,
    outcome: await requestOutcome(event.url, operators),
    list: await operators.decided(after === undefined ? {} : { after }),
  };
};

export const actions: Actions = {
  undo: formAction(
    ({ operators }, form) => operators.undoDecision({ organisation_id: text(form, 'organisation_id') }),
    {
      done: (form, { id }) => {
        const query = outcomeQuery('undone', { id, focus: text(form, 'next') });
        return text(form, 'from') === 'queue' ? `/operator?${query}` : `/operator/decided?${query}`;
      },
    },
  ),
};
