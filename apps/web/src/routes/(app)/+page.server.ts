import { requirePage } from '#lib/server/guards/page-guard.ts';
import { redirectToInvitation } from '#lib/server/session/invitation.ts';
import { redirectToReturnUrl } from '#lib/server/session/return-url.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  await redirectToInvitation(event);
  const { organisation, scopes } = requirePage(event);
  const { api } = event.locals;
  const now = new Date().toISOString();
  // Without an organisation the user stays here: the product would redirect back.
  if (!organisation) return { now, here: null };
  await redirectToReturnUrl(event);

  const [summary, members, activity] = await Promise.all([
    api.subscription.read(),
    api.members.list(),
    api.accounts.activity(),
  ]);
  return {
    now,
    here: {
      name: organisation.name ?? organisation.slug,
      administers: scopes.includes('ADMIN'),
      summary,
      members: members.length,
      activity: activity.slice(0, 5),
    },
  };
};
