import type { Caller } from '@gatehouse/api/router/root';
import { formAction } from '#lib/forms/form-action.ts';
import { text, texts } from '#lib/forms/form-fields.ts';
import { accountDoneTexts } from '#lib/messages/app/account.ts';

/** Which of a page's forms was posted, so that the page shows its errors beside its own fields. */
export type FormName = 'name' | 'address' | 'password' | 'unlink' | 'connect' | 'sessions' | 'delete';

/** A form of an account page: redirects to the page, with a notice of what was done. */
export function accountAction(
  { page, about, done }: { page: string; about: FormName; done: keyof ReturnType<typeof accountDoneTexts> },
  call: (api: Caller, form: FormData) => Promise<unknown>,
) {
  return formAction(call, { done: page, notice: () => accountDoneTexts()[done](), failure: () => ({ about }) });
}

/** The forms for a user's password, on /account and for accounts that await approval. */
export function passwordActions(page: string) {
  const outcome = { page, about: 'password', done: 'password' } as const;
  return {
    changePassword: accountAction(outcome, ({ accounts }, form) =>
      accounts.changePassword({
        current_password: text(form, 'current_password'),
        password: text(form, 'password'),
      }),
    ),
    setPassword: accountAction(outcome, ({ accounts }, form) =>
      accounts.setFirstPassword({ password: text(form, 'password') }),
    ),
  };
}

/** The forms that end a user's sessions, on /account/security and for accounts that await approval. */
export function endSessionActions(page: string) {
  return {
    endSession: accountAction({ page, about: 'sessions', done: 'session' }, ({ accounts }, form) =>
      accounts.endSession({ id: text(form, 'id'), ...typedPassword(form) }),
    ),
    endOtherSessions: accountAction({ page, about: 'sessions', done: 'sessions' }, ({ accounts }, form) =>
      accounts.endOtherSessions(typedPassword(form)),
    ),
  };
}

/** Deletes the account, on a page of its own and for accounts that await approval. */
export const deleteAccountAction = formAction(
  ({ leaving }, form) =>
    leaving.deleteAccount({ ...typedPassword(form), organisation_ids: texts(form, 'organisation_ids') }),
  { done: '/login', notice: () => accountDoneTexts().deleted(), failure: () => ({ about: 'delete' as FormName }) },
);

/** An empty or missing field counts as no password: the page asks for one only when it is needed. */
export function typedPassword(form: FormData): { password?: string } {
  const password = text(form, 'password');
  return password === '' ? {} : { password };
}
