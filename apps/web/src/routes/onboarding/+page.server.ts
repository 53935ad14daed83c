import { organisationName } from '#lib/format/organisation-name.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = (event) => {
  const { user, organisation, scopes } = requirePage(event);
  return {
    name: user.name,
    organisation: organisation && organisationName(organisation),
    isAdministrator: scopes.includes('ADMIN'),
  };
};

export const actions: Actions = { default: formAction(({ accounts }) => accounts.onboard(), { done: '/' }) };
