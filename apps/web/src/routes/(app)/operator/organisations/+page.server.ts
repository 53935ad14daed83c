import { organisationStatuses } from '../parts/status-text.ts';
import { chosenIn, listQuery, requireOperator } from '../require-operator.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  const query = listQuery(event.url);
  const { tiers } = event.locals.app.plans;
  const status = chosenIn(event.url, 'status', organisationStatuses);
  const tier = chosenIn(
    event.url,
    'tier',
    tiers.map((each) => each.tier),
  );
  return {
    search: query.search ?? '',
    status: status ?? '',
    tier: tier ?? '',
    tiers: tiers.map(({ tier: value, name: text }) => ({ value, text })),
    later: query.after !== undefined,
    list: await operators.organisations({ ...query, ...(status && { status }), ...(tier && { tier }) }),
  };
};
