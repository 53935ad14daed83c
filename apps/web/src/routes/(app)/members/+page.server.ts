import { requirePage } from '#lib/server/standing.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const { user, organisation } = requirePage(event);
  return {
    you: user.id,
    organisation: organisation && (organisation.name ?? organisation.slug),
    members: organisation ? await event.locals.api.members.list() : [],
  };
};
