import { redirect } from '@sveltejs/kit';
import { formFields, text } from '#lib/form-fields.ts';
import { refused } from '#lib/refused.ts';
import { keptInvitation } from '#lib/server/invitation.ts';
import { redirectSignedIn } from '#lib/server/standing.ts';
import { rememberWayBack } from '#lib/server/way-back.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  await rememberWayBack(event);
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
      return refused(event, error, () => ({ email }));
    }

    redirect(303, '/');
  },
};
