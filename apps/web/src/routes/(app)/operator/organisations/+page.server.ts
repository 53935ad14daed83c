import { organisationsQuery, requireOperator } from '../require-operator.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  const query = organisationsQuery(event);
  return {
    search: query.search ?? '',
    status: query.status ?? '',
    tier: query.tier ?? '',
    tiers: event.locals.app.plans.tiers.map(({ tier: value, name: text }) => ({ value, text })),
    later: query.after !== undefined,
    list: await operators.organisations(query),
  };
};
