import { toAppError } from '@gatehouse/api/platform/errors';
import { organisationName } from '#lib/format/organisation-name.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { redirectSignedIn } from '#lib/server/guards/page-guard.ts';
import { storedInvitation } from '#lib/server/session/invitation.ts';
import { rememberReturnUrl } from '#lib/server/session/return-url.ts';
import type { Actions, PageServerLoad } from './$types';

/** The page has a script of its own (docs/decisions/037-sign-in-without-kit.md). */
export const csr = false;

export const load: PageServerLoad = async (event) => {
  await rememberReturnUrl(event);
  redirectSignedIn(event);
  const { searchParams } = event.url;
  const invitation = await storedInvitation(event);
  return {
    joining: invitation && organisationName(invitation.organisation),
    idpFailed: searchParams.get('error') === 'idp',
    /** The id of the help that a link opens. By the fragment alone the browser opens it after the page was shown. */
    opened: searchParams.get('open'),
  };
};

export const actions: Actions = {
  default: formAction(
    ({ signIn }, form) => {
      const typed = { email: text(form, 'email'), password: text(form, 'password') };
      return signIn.withPassword(typed).then(
        () => '/',
        (error) => {
          if (toAppError(error).code === 'SECOND_FACTOR_REQUIRED') return '/login/second-step';
          throw error;
        },
      );
    },
    { done: (_form, page) => page, failure: (form) => ({ email: text(form, 'email') }) },
  ),
};
