import { iconSvg } from '#lib/branding/icon.ts';
import type { RequestHandler } from './$types';

const hourSeconds = 60 * 60;

/** The favicon in the brand colour. */
export const GET: RequestHandler = ({ locals }) =>
  new Response(iconSvg(locals.app.config.service), {
    headers: { 'content-type': 'image/svg+xml; charset=utf-8', 'cache-control': `public, max-age=${hourSeconds}` },
  });
