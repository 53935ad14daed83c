import { type RequestHandler, redirect } from '@sveltejs/kit';
import { localPage } from '#lib/server/session/local-path.ts';

/** Redirects to a page of this service. Kit's router in the browser knows no page at this path and loads a document. */
export const GET: RequestHandler = ({ url }) => redirect(302, localPage(url.searchParams.get('page') ?? '', url));
