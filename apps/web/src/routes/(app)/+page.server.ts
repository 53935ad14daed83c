import { organisationName } from '#lib/format/organisation-name.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { texts } from '#lib/language/texts.ts';
import { requirePage, signedInUser } from '#lib/server/guards/page-guard.ts';
import { areStepsHidden, hideSteps } from '#lib/server/session/hidden-steps.ts';
import { redirectToInvitation } from '#lib/server/session/invitation.ts';
import { redirectToReturnPath, redirectToReturnUrl } from '#lib/server/session/return-url.ts';
import type { Actions, PageServerLoad } from './$types';
import { setupSteps } from './setup-steps.ts';

export const load: PageServerLoad = async (event) => {
  // Who must set up a second factor, or review theirs, joins once they have.
  const { factorMissing = null, reviewPending = false } = signedInUser(event.locals) ?? {};
  if (factorMissing === null && !reviewPending) await redirectToInvitation(event);
  const { user, organisation, scopes, sessionId, hasFactor } = requirePage(event);
  const { api } = event.locals;
  const now = new Date().toISOString();
  if (!organisation) {
    await redirectToReturnPath(event);
    return { now, refusedBy: null, organisation: null };
  }
  const refusedBy = await redirectToReturnUrl(event, { sessionId });

  const [overview, { total: members }, activity, newBrowsers, factorWarnings] = await Promise.all([
    api.subscription.overview(),
    api.members.search(),
    api.accounts.activity(),
    api.accounts.newBrowsers(),
    hasFactor ? api.factors.warnings() : null,
  ]);
  const isAdministrator = scopes.includes('ADMIN');
  return {
    now,
    refusedBy: refusedBy && { url: refusedBy, host: new URL(refusedBy).host },
    organisation: {
      id: organisation.id,
      name: organisationName(organisation),
      overview,
      isAdministrator,
      members,
      newBrowsers: newBrowsers.length,
      factorWarnings,
      steps: areStepsHidden(event, organisation.id)
        ? []
        : setupSteps({ overview, members, isAdministrator, hasName: user.name !== null }),
      activity: activity.slice(0, 5),
    },
  };
};

export const actions: Actions = {
  hideSteps: formAction(
    async (_api, _form, event) => hideSteps(event, signedInUser(event.locals)?.organisation?.id ?? null),
    {
      ofOrganisation: true,
      done: '/',
      // Without a session the next page is /login, which would show it.
      notice: (_form, _answer, event) =>
        signedInUser(event.locals) && {
          text: texts('overview').hidden,
          action: { label: texts('overview').showThem, post: '/?/showSteps' },
        },
    },
  ),
  showSteps: formAction(async (_api, _form, event) => hideSteps(event, null), { done: '/' }),
};
