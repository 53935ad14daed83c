import type { Caller } from '@gatehouse/api/router/root';
import type { Texts } from '@gatehouse/languages/generated/texts';
import { type Ended, withEnded } from '#lib/format/ended-text.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { text, textList, ticked, typedPassword } from '#lib/forms/form-fields.ts';
import { texts } from '#lib/language/texts.ts';

/** Which of a page's forms was posted, so that the page shows its errors beside its own fields. */
export type FormName =
  | 'name'
  | 'address'
  | 'pendingAddress'
  | 'password'
  | 'unlink'
  | 'connect'
  | 'sessions'
  | 'fresh'
  | 'delete'
  | 'factors'
  | 'totp';

/** Returns the action of a form on an account page, which redirects to the page with a notice of what was done. */
export function accountAction(
  { page, formName, done }: { page: string; formName: FormName; done: keyof Texts['accountDone'] },
  call: (api: Caller, form: FormData) => Promise<{ ok: true; ended?: Ended }>,
) {
  const notice = (_form: FormData, { ended }: { ok: true; ended?: Ended }) =>
    withEnded(texts('accountDone')[done], ended);
  return formAction(call, { done: page, notice, failure: () => ({ formName }) });
}

/** The forms for a user's password, on /account/security and for accounts that await approval. */
export function passwordActions(page: string) {
  const passwordForm = { page, formName: 'password', done: 'password' } as const;
  return {
    changePassword: accountAction(passwordForm, ({ accounts }, form) =>
      accounts.changePassword({
        current_password: text(form, 'current_password'),
        password: text(form, 'password'),
        revoke_keys: ticked(form, 'revoke_keys'),
      }),
    ),
    setPassword: accountAction(passwordForm, ({ accounts }, form) =>
      accounts.setFirstPassword({ password: text(form, 'password'), revoke_keys: ticked(form, 'revoke_keys') }),
    ),
  };
}

/** The forms that end a user's sessions, on /account/security and for accounts that await approval. */
export function endSessionActions(page: string) {
  return {
    endSession: accountAction({ page, formName: 'sessions', done: 'session' }, ({ accounts }, form) =>
      accounts.endSession({ id: text(form, 'id'), ...typedPassword(form) }),
    ),
    /** Ends a session that the user did not start, and leads to a new password. */
    notMe: formAction(({ accounts }, form) => accounts.endSession({ id: text(form, 'id'), ...typedPassword(form) }), {
      done: page === '/account/security' ? '/account/security?change=password' : page,
      notice: () => texts('accountDone').notMe,
      failure: () => ({ formName: 'sessions' as FormName }),
    }),
    endOtherSessions: accountAction({ page, formName: 'sessions', done: 'sessions' }, ({ accounts }, form) =>
      accounts.endOtherSessions(typedPassword(form)),
    ),
  };
}

/**
 * The forms that set up an authenticator app, on /account/security and on the page of an account that must have a second
 * factor. `next` is the page after it; the first factor's recovery codes are shown once, in the answer, before it.
 */
export function totpActions(page: string, next: string) {
  return {
    /** A session that is not fresh becomes so first, on the page. */
    totp: formAction(({ factors }) => factors.totp(), {
      done: `${page}?setup=totp`,
      failure: () => ({ formName: 'factors' as FormName, returnTo: page }),
    }),
    confirm: formAction(({ factors }, form) => factors.confirmTotp({ totp: text(form, 'totp') }), {
      done: (_form, { recovery_codes: codes }) => (codes === undefined ? next : { formName: 'codes', codes }),
      notice: (_form, { recovery_codes: codes }) => ({
        text: texts('factor').confirmed,
        ...(codes !== undefined && { focus: 'recovery-codes' }),
      }),
      failure: () => ({ formName: 'totp' as FormName }),
    }),
  };
}

/** Deletes the account, on a page of its own and for accounts that await approval. */
export const deleteAccountAction = formAction(
  ({ leaving }, form) =>
    leaving.deleteAccount({
      ...typedPassword(form),
      organisation_ids: textList(form, 'organisation_ids'),
      revoke_keys: ticked(form, 'revoke_keys'),
    }),
  { done: '/login', notice: () => texts('accountDone').deleted, failure: () => ({ formName: 'delete' as FormName }) },
);
