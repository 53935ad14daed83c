import { csvResponse } from '../csv.ts';
import { requireOperator, requireOperatorNow } from '../require-operator.ts';
import type { RequestHandler } from './$types';

const rowsAtOnce = 500;
const header = ['id', 'email', 'name', 'status', 'suspended', 'operator', 'organisations', 'joined'];

/** All people as a file, newest first. */
export const GET: RequestHandler = (event) => {
  requireOperator(event);
  return csvResponse('people.csv', header, async (after) => {
    const operators = await requireOperatorNow(event);
    const { people, next } = await operators.people({ rows: rowsAtOnce, ...(after !== undefined && { after }) });
    const rows = people.map((person) => [
      person.id,
      person.email,
      person.name,
      person.account_status,
      person.suspended,
      person.operator,
      person.memberships.map(({ role, organisation }) => `${organisation.slug} (${role})`).join('; '),
      person.created_at,
    ]);
    return { rows, next };
  });
};
