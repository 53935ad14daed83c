import { redirect } from '@sveltejs/kit';
import { isLanguage } from '#lib/language/language.ts';
import { storeChoice } from '#lib/server/session/store-choice.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = () => {
  redirect(302, '/');
};

export const actions: Actions = { default: storeChoice('language', isLanguage) };
