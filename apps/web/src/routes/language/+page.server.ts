import { redirect } from '@sveltejs/kit';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { isLanguage } from '#lib/language/language.ts';
import { localPath } from '#lib/server/session/current-path.ts';
import type { Actions, PageServerLoad } from './$types';

const yearSeconds = 365 * 24 * 60 * 60;

export const load: PageServerLoad = () => {
  redirect(302, '/');
};

export const actions: Actions = {
  default: async ({ request, cookies, url }) => {
    const form = await formFields(request);
    const language = form.get('language');

    const cookie = { path: '/', httpOnly: true, secure: url.protocol === 'https:', sameSite: 'lax' } as const;
    if (isLanguage(language)) cookies.set('language', language, { ...cookie, maxAge: yearSeconds });
    else cookies.delete('language', cookie);

    redirect(303, localPath(text(form, 'from'), url));
  },
};
