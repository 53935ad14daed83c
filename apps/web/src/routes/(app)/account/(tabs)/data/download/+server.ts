import type { RequestHandler } from '@sveltejs/kit';
import { requirePage } from '#lib/server/guards/page-guard.ts';

/** The user's own data as a file. */
export const GET: RequestHandler = async (event) => {
  requirePage(event);
  const data = await event.locals.api.leaving.export();
  return new Response(`${JSON.stringify(data, null, 2)}\n`, {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': 'attachment; filename="account.json"',
    },
  });
};
