import { type RequestHandler, redirect } from '@sveltejs/kit';
import { isLanguage } from '#lib/language/language.ts';
import { storeChoice } from '#lib/server/session/store-choice.ts';

export const GET: RequestHandler = () => redirect(302, '/');

export const POST = storeChoice('language', isLanguage);
