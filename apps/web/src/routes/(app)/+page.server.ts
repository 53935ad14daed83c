import { requirePage } from '#lib/server/guards/page-guard.ts';
import { redirectToInvitation } from '#lib/server/session/invitation.ts';
import { redirectToReturnUrl } from '#lib/server/session/return-url.ts';
import type { PageServerLoad } from './$types';
import { homeNotices } from './home-notices.ts';
import { setupSteps } from './setup-steps.ts';

export const load: PageServerLoad = async (event) => {
  await redirectToInvitation(event);
  const { user, organisation, scopes } = requirePage(event);
  const { api } = event.locals;
  const now = new Date().toISOString();
  // Without an organisation the user stays here: the product would redirect back.
  if (!organisation) return { now, here: null };
  await redirectToReturnUrl(event);

  const [overview, { total: members }, activity] = await Promise.all([
    api.subscription.overview(),
    api.members.search(),
    api.accounts.activity(),
  ]);
  const administers = scopes.includes('ADMIN');
  return {
    now,
    here: {
      name: organisation.name ?? organisation.slug,
      plan: overview.plan,
      usage: overview.usage,
      members,
      notices: administers ? homeNotices(overview, members) : [],
      steps: setupSteps({ overview, members, administers, hasName: user.name !== null }),
      activity: activity.slice(0, 5),
    },
  };
};
