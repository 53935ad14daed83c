import { auditTexts } from '#lib/format/audit-text.ts';
import { chosenIn, requireOperator } from '../require-operator.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  const { searchParams } = event.url;
  const person = searchParams.get('search')?.trim() ?? '';
  const after = searchParams.get('after');
  const actions = auditTexts();
  const action = chosenIn(
    event.url,
    'action',
    actions.map(({ value }) => value),
  );
  return {
    now: new Date().toISOString(),
    search: person,
    action: action ?? '',
    actions,
    later: after !== null,
    list: await operators.audit({
      ...(person && { person }),
      ...(action && { action }),
      ...(after !== null && { after }),
    }),
  };
};
