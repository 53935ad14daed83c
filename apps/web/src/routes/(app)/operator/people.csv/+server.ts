import { csvResponse } from '#lib/server/csv.ts';
import { peopleQuery, requireOperator, requireOperatorNow } from '../require-operator.ts';
import type { RequestHandler } from './$types';

const rowsAtOnce = 500;
const header = ['id', 'email', 'name', 'status', 'suspended', 'operator', 'organisations', 'joined'];

/** The users as a file, newest first: all, or those that the query of their page finds. */
export const GET: RequestHandler = (event) => {
  requireOperator(event);
  const query = peopleQuery(event);
  return csvResponse('people.csv', header, async (after) => {
    const operators = await requireOperatorNow(event);
    const { people, next } = await operators.people({
      ...query,
      rows: rowsAtOnce,
      ...(after !== undefined && { after }),
    });
    const rows = people.map((user) => [
      user.id,
      user.email,
      user.name,
      user.account_status,
      user.suspended,
      user.operator,
      user.memberships.map(({ role, organisation }) => `${organisation.slug} (${role})`).join('; '),
      user.created_at,
    ]);
    return { rows, next };
  });
};
