import type { Caller } from '@gatehouse/api/router/root';
import { formAction } from '#lib/forms/form-action.ts';
import { text, texts } from '#lib/forms/form-fields.ts';

/** Which of a page's forms was posted, so that the page shows its errors beside its own fields. */
export type AboutForm = 'other' | 'sessions' | 'unlink' | 'connect' | 'delete';

/** A form of an account page: redirects to the page, which says what was done. */
export function accountAction(
  { page, done, about = 'other' }: { page: string; done: string; about?: AboutForm },
  call: (api: Caller, form: FormData) => Promise<unknown>,
) {
  return formAction(call, { done: `${page}?done=${done}`, failure: () => ({ about }) });
}

/** The forms for a user's password and sessions, on /account and for accounts that await approval. */
export function passwordAndSessionActions(page: string) {
  return {
    changePassword: accountAction({ page, done: 'password' }, ({ accounts }, form) =>
      accounts.changePassword({
        current_password: text(form, 'current_password'),
        password: text(form, 'password'),
      }),
    ),
    setPassword: accountAction({ page, done: 'password' }, ({ accounts }, form) =>
      accounts.setFirstPassword({ password: text(form, 'password') }),
    ),
    endSession: accountAction({ page, done: 'session', about: 'sessions' }, ({ accounts }, form) =>
      accounts.endSession({ id: text(form, 'id'), ...typedPassword(form) }),
    ),
    endOtherSessions: accountAction({ page, done: 'sessions', about: 'sessions' }, ({ accounts }, form) =>
      accounts.endOtherSessions(typedPassword(form)),
    ),
  };
}

/** Deletes the account, on a page of its own and for accounts that await approval. */
export const deleteAccountAction = formAction(
  ({ leaving }, form) =>
    leaving.deleteAccount({ ...typedPassword(form), organisation_ids: texts(form, 'organisation_ids') }),
  { done: '/login?done=deleted', failure: () => ({ about: 'delete' as AboutForm }) },
);

/** An empty or missing field counts as no password: the page asks for one only when it is needed. */
function typedPassword(form: FormData): { password?: string } {
  const password = text(form, 'password');
  return password === '' ? {} : { password };
}
