import { redirect } from '@sveltejs/kit';
import { storeChoice } from '#lib/server/session/store-choice.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = () => {
  redirect(302, '/');
};

export const actions: Actions = { default: storeChoice('theme', (theme) => theme === 'light' || theme === 'dark') };
