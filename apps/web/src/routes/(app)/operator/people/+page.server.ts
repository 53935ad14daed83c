import { userStatuses } from '../parts/status-text.ts';
import { chosenIn, listQuery, requireOperator } from '../require-operator.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  const query = listQuery(event.url);
  const status = chosenIn(event.url, 'status', userStatuses);
  return {
    search: query.search ?? '',
    status: status ?? '',
    later: query.after !== undefined,
    list: await operators.people({ ...query, ...(status && { status }) }),
  };
};
