import { peopleQuery, requireOperator } from '../require-operator.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  const query = peopleQuery(event);
  return {
    search: query.search ?? '',
    status: query.status ?? '',
    later: query.after !== undefined,
    list: await operators.people(query),
  };
};
