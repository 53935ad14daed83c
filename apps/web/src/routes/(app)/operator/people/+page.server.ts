import { listQuery, requireOperator } from '../require-operator.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  const query = listQuery(event.url);
  return { search: query.search ?? '', later: query.after !== undefined, list: await operators.people(query) };
};
