import type { RequestHandler } from '@sveltejs/kit';

/** 200 while the database answers. Migrations ran before this process accepted requests. */
export const GET: RequestHandler = async ({ locals: { app } }) => {
  try {
    await app.sql`select 1`;
    return Response.json({ ready: true });
  } catch {
    return Response.json({ ready: false }, { status: 503, headers: { 'retry-after': '5' } });
  }
};
