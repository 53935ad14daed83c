import type { RequestHandler } from '@sveltejs/kit';

/**
 * 200 while the database answers. Migrations ran before this process accepted requests. Else 503
 * within two seconds, with the code of the reason.
 */
export const GET: RequestHandler = async ({ locals: { app } }) => {
  const reason = await app.databaseHealth.check();
  if (reason === null) return Response.json({ ready: true });
  return Response.json({ ready: false, reason }, { status: 503, headers: { 'retry-after': '5' } });
};
