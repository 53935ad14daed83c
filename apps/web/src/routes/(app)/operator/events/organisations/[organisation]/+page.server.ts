import { idOf, requireOperator } from '../../../require-operator.ts';
import { sync } from '../../sync-action.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  const before = event.url.searchParams.get('before');
  const query = { organisation_id: idOf(event.params.organisation), ...(before !== null && { before }) };
  return {
    history: await operators.billingHistory(query),
    later: before !== null,
  };
};

export const actions: Actions = { sync };
