import { error as httpError } from '@sveltejs/kit';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { PageServerLoad } from './$types';
import { logFilter } from './log-filter.ts';

const rowsPerPage = 50;

export const load: PageServerLoad = async (event) => {
  const { organisation, scopes } = requirePage(event);
  if (organisation === null || !scopes.includes('ADMIN')) httpError(403, 'This page is for owners and admins.');

  const { searchParams } = event.url;
  const filter = logFilter(searchParams);
  const after = searchParams.get('after') ?? undefined;
  const page = await event.locals.api.organisations.auditLog({ ...filter, after, limit: rowsPerPage });
  return { ...page, filter, isFirst: after === undefined };
};
