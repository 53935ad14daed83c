import { csvResponse } from '#lib/server/csv.ts';
import { requireOperator, requireOperatorNow } from '../require-operator.ts';
import type { RequestHandler } from './$types';

const rowsAtOnce = 500;
const header = ['id', 'slug', 'name', 'owner', 'status', 'tier', 'subscription_status', 'paid_until', 'created'];

/** All organisations as a file, newest first. */
export const GET: RequestHandler = (event) => {
  requireOperator(event);
  return csvResponse('organisations.csv', header, async (after) => {
    const operators = await requireOperatorNow(event);
    const { organisations, next } = await operators.organisations({
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
