import { csvResponse } from '#lib/server/csv.ts';
import { organisationsQuery, requireOperator, requireOperatorNow } from '../require-operator.ts';
import type { RequestHandler } from './$types';

const rowsAtOnce = 500;
const header = ['id', 'slug', 'name', 'owner', 'status', 'tier', 'subscription_status', 'paid_until', 'created'];

/** The organisations as a file, newest first: all, or those that the query of their page finds. */
export const GET: RequestHandler = (event) => {
  requireOperator(event);
  const query = organisationsQuery(event);
  return csvResponse('organisations.csv', header, async (after) => {
    const operators = await requireOperatorNow(event);
    const { organisations, next } = await operators.organisations({
      ...query,
      rows: rowsAtOnce,
      ...(after !== undefined && { after }),
    });
    const rows = organisations.map(({ plan, ...organisation }) => [
      organisation.id,
      organisation.slug,
      organisation.name,
      organisation.owner,
      organisation.status,
      plan.tier,
      plan.status,
      plan.current_period_end,
      organisation.created_at,
    ]);
    return { rows, next };
  });
};
