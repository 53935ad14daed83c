import { redirect } from '@sveltejs/kit';
import { organisationName } from '#lib/format/organisation-name.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { typedPassword } from '#lib/forms/form-fields.ts';
import { texts } from '#lib/language/texts.ts';
import { signedInUser } from '#lib/server/guards/page-guard.ts';
import { type FormName, totpActions } from '#lib/server/http/account-actions.ts';
import type { Actions, PageServerLoad } from './$types';

const page = '/account/security/required';

export const load: PageServerLoad = async ({ locals, url }) => {
  const principal = signedInUser(locals);
  if (principal === null) redirect(302, locals.stepPending ? '/login/second-step' : '/login');
  if (principal.reviewPending || principal.factorMissing === null) redirect(302, '/');

  const { factors, organisations, members } = locals.api;
  const requirement = await factors.requirement();
  const isFresh = principal.freshUntil !== null && principal.freshUntil > locals.app.now();
  const setsUp = url.searchParams.get('setup') === 'totp' && isFresh;
  const mayLeave = principal.factorMissing === 'organisation' && principal.organisation !== null;
  const [own, started, setup] = await Promise.all([
    mayLeave ? organisations.mine() : [],
    mayLeave ? members.ownStarted() : null,
    setsUp ? factors.totpSetup() : null,
  ]);
  return {
    requirement: requirement ?? redirect(302, '/'),
    asksFirst: !isFresh || principal.hasFactor,
    setup,
    organisation: principal.organisation && {
      id: principal.organisation.id,
      name: organisationName(principal.organisation),
    },
    others: own
      .filter(({ current, approval }) => !current && approval === 'approved')
      .map((each) => ({ id: each.id, name: organisationName(each) })),
    /** What ends with the membership; null where the user cannot leave by it what is required. */
    started,
  };
};

export const actions: Actions = {
  /** Makes the session fresh by the password, and a factor of a user who has one: all other pages lead here. */
  fresh: formAction(({ signIn }, form) => signIn.again(typedPassword(form)), {
    done: page,
    notice: () => texts('fresh').confirmed,
    failure: () => ({ formName: 'fresh' as FormName }),
  }),
  ...totpActions(page, '/'),
};
