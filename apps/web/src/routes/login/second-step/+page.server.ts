import { redirect } from '@sveltejs/kit';
import { formAction } from '#lib/forms/form-action.ts';
import { text, ticked } from '#lib/forms/form-fields.ts';
import { signedInUser } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';

/** The page has a script of its own (docs/decisions/037-sign-in-without-kit.md). */
export const csr = false;

export const load: PageServerLoad = async ({ locals, setHeaders }) => {
  const step = await locals.api.signIn.step();
  if (step === null && signedInUser(locals) !== null) redirect(302, '/');
  setHeaders({ 'cache-control': 'no-store' });
  return { step };
};

export const actions: Actions = {
  default: formAction(
    ({ signIn }, form) =>
      signIn.secondStep({
        totp: text(form, 'totp'),
        recovery_code: text(form, 'recovery_code'),
        trust: ticked(form, 'trust'),
      }),
    {
      done: '/',
      failure: (form) => ({ trust: ticked(form, 'trust'), recovering: text(form, 'recovery_code').trim() !== '' }),
    },
  ),
};
