import { hasSharedSession } from '@gatehouse/api/http/open-request';
import { redirect } from '@sveltejs/kit';
import { formFields } from '#lib/forms/form-fields.ts';
import { signedInUser } from '#lib/server/guards/page-guard.ts';
import { requestedReturnUrl } from '#lib/server/session/return-url.ts';
import type { Actions, PageServerLoad } from './$types';

/** Leaves the page by a plain form: its answer redirects to another host. */
export const csr = false;

/**
 * A product links to this page with return_to. The page signs out by a button, because a GET must not: any other page
 * could make a browser send it.
 */
export const load: PageServerLoad = async (event) => {
  const { locals, cookies } = event;
  const isSignedIn = signedInUser(locals) !== null || (await hasSharedSession(locals, cookies));
  const url = requestedReturnUrl(event);
  if (!isSignedIn) redirect(302, url ?? '/login', { external: url !== null });
  return { host: url && new URL(url).host };
};

export const actions: Actions = {
  default: async (event) => {
    // It has no fields: this refuses a body that no form may have.
    await formFields(event);
    await event.locals.api.signIn.out();
    const url = requestedReturnUrl(event);
    redirect(303, url ?? '/login', { external: url !== null });
  },
};
