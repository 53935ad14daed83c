import { clearCookie, writeCookie } from '@gatehouse/api/http/cookies';
import type { Config } from '@gatehouse/api/platform/config';
import { type RequestHandler, redirect } from '@sveltejs/kit';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { localPage, localPath } from './local-path.ts';

/**
 * Returns a handler that stores a choice of this browser, the field `name` of a form, in a cookie of that name for a
 * year. Any other value removes the cookie. The handler redirects to the page of the form, with the field `token` in
 * the query: a page with a token in its URL cannot be loaded without it. A form with the field `stay` gets 204,
 * which leaves the page and what was typed as they are.
 */
export function storeChoice(
  name: 'theme' | 'language',
  isChoice: (value: string, config: Config) => boolean,
): RequestHandler {
  return async (event) => {
    const { locals, cookies, url } = event;
    const form = await formFields(event);
    const chosen = text(form, name);

    if (isChoice(chosen, locals.app.config)) writeCookie(locals.app, cookies, name, chosen);
    else clearCookie(locals.app, cookies, name);

    if (form.has('stay')) return new Response(null, { status: 204 });
    const token = text(form, 'token');
    const from = text(form, 'from');
    redirect(303, token === '' ? localPage(from, url) : `${localPath(from, url)}?${new URLSearchParams({ token })}`);
  };
}
