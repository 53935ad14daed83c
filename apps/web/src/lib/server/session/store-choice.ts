import { type Action, redirect } from '@sveltejs/kit';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { localPath } from './current-path.ts';

const yearSeconds = 365 * 24 * 60 * 60;

/**
 * A form action that stores a choice of this browser, the field `name`, in a cookie of that name for a year,
 * and redirects to the page of the form. Any other value removes the cookie.
 */
export function storeChoice(name: 'theme' | 'language', isChoice: (value: string) => boolean): Action {
  return async ({ request, cookies, url }) => {
    const form = await formFields(request);
    const chosen = text(form, name);

    const cookie = { path: '/', httpOnly: true, secure: url.protocol === 'https:', sameSite: 'lax' } as const;
    if (isChoice(chosen)) cookies.set(name, chosen, { ...cookie, maxAge: yearSeconds });
    else cookies.delete(name, cookie);

    redirect(303, localPath(text(form, 'from'), url));
  };
}
