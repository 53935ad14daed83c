import { type RequestEvent, redirect } from '@sveltejs/kit';
import { actionFailure } from '#lib/forms/form-action.ts';
import { formFields, text, texts } from '#lib/forms/form-fields.ts';

type Api = RequestEvent['locals']['api'];

/** Which of a page's forms was posted, so that its sentences stand beside its own fields. */
export type AboutForm = 'other' | 'sessions' | 'unlink' | 'connect' | 'delete';

/** Does what a form of an account page asks for, and leads back to the page, which says what was done. */
export async function act(
  event: RequestEvent,
  { page, done, about = 'other' }: { page: string; done: string; about?: AboutForm },
  call: (form: FormData, api: Api) => Promise<unknown>,
) {
  const form = await formFields(event.request);
  try {
    await call(form, event.locals.api);
  } catch (error) {
    return actionFailure(event, error, () => ({ about }));
  }
  redirect(303, `${page}?done=${done}`);
}

/** The forms for a user's password and sessions, on /account and for accounts that await approval. */
export function passwordAndSessionActions(page: string) {
  return {
    changePassword: (event: RequestEvent) =>
      act(event, { page, done: 'password' }, (form, { accounts }) =>
        accounts.changePassword({
          current_password: text(form, 'current_password'),
          password: text(form, 'password'),
        }),
      ),
    setPassword: (event: RequestEvent) =>
      act(event, { page, done: 'password' }, (form, { accounts }) =>
        accounts.setFirstPassword({ password: text(form, 'password') }),
      ),
    endSession: (event: RequestEvent) =>
      act(event, { page, done: 'session', about: 'sessions' }, (form, { accounts }) =>
        accounts.endSession({ id: text(form, 'id'), ...typedPassword(form) }),
      ),
    endOtherSessions: (event: RequestEvent) =>
      act(event, { page, done: 'sessions', about: 'sessions' }, (form, { accounts }) =>
        accounts.endOtherSessions(typedPassword(form)),
      ),
  };
}

/** Deletes the account, on a page of its own and for accounts that await approval. */
export async function deleteAccountAction(event: RequestEvent) {
  const form = await formFields(event.request);
  try {
    await event.locals.api.leaving.deleteAccount({
      ...typedPassword(form),
      organisation_ids: texts(form, 'organisation_ids'),
    });
  } catch (error) {
    return actionFailure(event, error, () => ({ about: 'delete' as AboutForm }));
  }
  redirect(303, '/login?done=deleted');
}

/** A field that is empty or not there is no password: none was asked for. */
function typedPassword(form: FormData): { password?: string } {
  const password = text(form, 'password');
  return password === '' ? {} : { password };
}
