import { lifetimeText } from '@gatehouse/api/platform/durations';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { readLinkRequest, storeLinkRequest } from '#lib/forms/link-request.ts';
import { texts } from '#lib/language/texts.ts';
import { redirectSignedIn } from '#lib/server/guards/page-guard.ts';
import { storedInvitation } from '#lib/server/session/invitation.ts';
import { rememberReturnUrl } from '#lib/server/session/return-url.ts';
import type { Actions, PageServerLoad } from './$types';

/** The page has a script of its own (docs/decisions/037-sign-in-without-kit.md). */
export const csr = false;

export const load: PageServerLoad = async (event) => {
  await rememberReturnUrl(event);
  redirectSignedIn(event);
  return {
    sent: event.url.searchParams.has('sent') ? readLinkRequest(event) : null,
    forPassword: event.url.searchParams.get('sent') === 'password',
    forgot: event.url.searchParams.has('forgot'),
    now: new Date().toISOString(),
    linkLifetime: lifetimeText(texts('date').within, event.locals.app.config.verificationTtlSeconds),
    invitation: await storedInvitation(event),
  };
};

export const actions: Actions = {
  create: formAction(
    ({ accounts }, form) =>
      accounts.signUp({ ...typedIn(form), password: text(form, 'password'), invitation: text(form, 'invitation') }),
    {
      done: (_form, { email }, event) => {
        storeLinkRequest(event, email);
        return '/signup?sent';
      },
      failure: (form) => ({ ...typedIn(form), resending: false, forPassword: false }),
    },
  ),

  resend: formAction(
    async ({ accounts }, form) => (asksFirst(form) ? null : accounts.resend({ email: text(form, 'email') })),
    {
      done: (form, _answer, event) => {
        if (asksFirst(form)) return '/signup?forgot';
        storeLinkRequest(event, text(form, 'email').trim().toLowerCase());
        return isForPassword(form) ? '/signup?sent=password' : '/signup?sent';
      },
      failure: (form) => ({
        email: text(form, 'email'),
        org_name: '',
        resending: true,
        forPassword: isForPassword(form),
      }),
    },
  ),
};

function typedIn(form: FormData) {
  return { email: text(form, 'email'), org_name: text(form, 'org_name') };
}

function isForPassword(form: FormData): boolean {
  return ['password', 'forgot'].includes(text(form, 'wanted'));
}

/** "Forgot your password?" beside the password, pressed before an address was typed. */
function asksFirst(form: FormData): boolean {
  return text(form, 'wanted') === 'forgot' && text(form, 'email').trim() === '';
}
