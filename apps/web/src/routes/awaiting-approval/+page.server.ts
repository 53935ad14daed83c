import { redirectApproved } from '#lib/server/standing.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  redirectApproved(event);
  const { principal, api } = event.locals;
  if (principal === null) return { waiting: null };

  return { waiting: await api.accounts.waiting() };
};
