import { organisationName } from '#lib/format/organisation-name.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = (event) => {
  const { user, organisation, role, scopes } = requirePage(event);
  return {
    name: user.name,
    organisation: organisation && organisationName(organisation),
    /** Whoever has created the organisation is its owner. */
    joined: organisation !== null && role !== 'owner',
    isAdministrator: scopes.includes('ADMIN'),
  };
};

export const actions: Actions = { default: formAction(({ accounts }) => accounts.onboard(), { done: '/' }) };
