import { redirect } from '@sveltejs/kit';
import { formFields } from '#lib/form-fields.ts';
import type { Actions, PageServerLoad } from './$types';

const yearSeconds = 365 * 24 * 60 * 60;

export const load: PageServerLoad = () => {
  redirect(302, '/');
};

export const actions: Actions = {
  default: async ({ request, cookies, url }) => {
    const form = await formFields(request);
    const theme = form.get('theme');

    const cookie = { path: '/', httpOnly: true, secure: url.protocol === 'https:', sameSite: 'lax' } as const;
    if (theme === 'light' || theme === 'dark') cookies.set('theme', theme, { ...cookie, maxAge: yearSeconds });
    else cookies.delete('theme', cookie);

    redirect(303, pathHere(form.get('from'), url));
  },
};

/** The page that the switch stood on: a path of this service, whatever was sent. */
function pathHere(from: FormDataEntryValue | null, url: URL): string {
  if (typeof from !== 'string' || !URL.canParse(from, url.origin)) return '/';
  const target = new URL(from, url.origin);
  return target.origin === url.origin && !target.pathname.startsWith('//') ? target.pathname : '/';
}
