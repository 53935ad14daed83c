import { type RequestHandler, redirect } from '@sveltejs/kit';
import { storeChoice } from '#lib/server/session/store-choice.ts';

export const GET: RequestHandler = () => redirect(302, '/');

export const POST = storeChoice('language', (value, { languages }) => languages.some((language) => language === value));
