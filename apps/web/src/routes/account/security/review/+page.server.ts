import { redirect } from '@sveltejs/kit';
import { formAction } from '#lib/forms/form-action.ts';
import { textList, typedPassword } from '#lib/forms/form-fields.ts';
import { texts } from '#lib/language/texts.ts';
import { signedInUser } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';

const page = '/account/security/review';

export const load: PageServerLoad = async ({ locals }) => {
  const principal = signedInUser(locals);
  if (principal === null) redirect(302, locals.stepPending ? '/login/second-step' : '/login');
  if (!principal.reviewPending) redirect(302, '/');
  const needsPassword = principal.byIdentity && principal.hasPassword;
  return { review: await locals.api.factors.review(), passkeySuffices: principal.hasPasskey && !needsPassword };
};

export const actions: Actions = {
  keep: formAction(({ factors }, form) => factors.answerReview({ keep: textList(form, 'id') }), {
    done: '/',
    notice: () => texts('review').done,
  }),
  /** Makes the session fresh by the password and a factor: all other pages lead here. */
  fresh: formAction(({ signIn }, form) => signIn.again(typedPassword(form)), {
    done: page,
    notice: () => texts('fresh').confirmed,
  }),
};
