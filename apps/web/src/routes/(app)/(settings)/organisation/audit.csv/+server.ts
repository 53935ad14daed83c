import { authenticate } from '@gatehouse/api/http/open-request';
import { error as httpError } from '@sveltejs/kit';
import { csvResponse } from '#lib/server/csv.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import { requestSourceOf } from '#lib/server/request-source.ts';
import { logFilter } from '../audit/log-filter.ts';
import type { RequestHandler } from './$types';

const rowsAtOnce = 500;
const header = ['at', 'actor', 'actor_email', 'action', 'about', 'about_email', 'from', 'to', 'role', 'plan', 'key'];

/** The organisation's audit log as a file, newest first, with the filter of the page. */
export const GET: RequestHandler = (event) => {
  const { organisation } = requirePage(event);
  const filter = logFilter(event.url.searchParams);
  return csvResponse('audit-log.csv', header, async (after) => {
    // A download can outlast the session, the user's role, the plan, and the organisation that the session acts for.
    if (after !== undefined) await authenticate(event.locals, requestSourceOf(event));
    const now = requirePage(event);
    if (organisation === null || now.organisation?.id !== organisation.id || !now.scopes.includes('ADMIN')) {
      httpError(403, 'This page is for owners and admins.');
    }
    const { log } = await event.locals.api.organisations.auditLog({ ...filter, after, limit: rowsAtOnce });
    if (log === null) httpError(403, 'The plan has no audit log.');
    const rows = log.entries.map(({ at, actor, action, person, change, role, plan, key }) => [
      at,
      ...namesOf(actor),
      action,
      ...namesOf(person),
      change?.from ?? null,
      change?.to ?? null,
      role,
      plan,
      key,
    ]);
    return { rows, next: log.next };
  });
};

type Shown = { kind: 'named'; name: string | null; email: string } | { kind: 'you' | 'operator' | 'unnamed' } | null;

/** The name and the address of a member; of another one what it is: an operator, or unnamed. */
function namesOf(shown: Shown): [string | null, string | null] {
  if (shown === null) return [null, null];
  return shown.kind === 'named' ? [shown.name, shown.email] : [shown.kind, null];
}
