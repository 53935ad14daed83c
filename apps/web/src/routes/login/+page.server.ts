import { redirect } from '@sveltejs/kit';
import { actionFailure } from '#lib/forms/form-action.ts';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { redirectSignedIn } from '#lib/server/guards/page-guard.ts';
import { keptInvitation } from '#lib/server/session/invitation.ts';
import { rememberReturnUrl } from '#lib/server/session/return-url.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  await rememberReturnUrl(event);
  redirectSignedIn(event);
  const { searchParams } = event.url;
  const invitation = await keptInvitation(event);
  return {
    joining: invitation && (invitation.organisation.name ?? invitation.organisation.slug),
    idpFailed: searchParams.get('error') === 'idp',
    done: searchParams.get('done'),
  };
};

export const actions: Actions = {
  default: async (event) => {
    const form = await formFields(event.request);
    const email = text(form, 'email');

    try {
      await event.locals.api.signIn.withPassword({ email, password: text(form, 'password') });
    } catch (error) {
      return actionFailure(event, error, () => ({ email }));
    }

    redirect(303, '/');
  },
};
