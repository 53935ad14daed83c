import { requireOperator } from '../require-operator.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);

  const { searchParams } = event.url;
  const search = searchParams.get('search')?.trim() ?? '';
  const flagged = searchParams.get('flagged') === 'true';
  const before = searchParams.get('before');
  const [list, drift] = await Promise.all([
    operators.events({ ...(search && { search }), ...(flagged && { flagged }), ...(before !== null && { before }) }),
    operators.drift(),
  ]);
  return {
    now: new Date().toISOString(),
    search,
    flagged,
    later: before !== null,
    list,
    drift: { rows: drift.count, events: drift.flagged_events, most: drift.most },
  };
};
