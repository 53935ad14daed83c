import { error } from '@sveltejs/kit';
import { brandCss } from '#lib/branding/brand-css.ts';
import type { RequestHandler } from './$types';

const hourSeconds = 60 * 60;

/** The brand colour as a style sheet: the content security policy forbids style elements in pages. */
export const GET: RequestHandler = ({ locals }) => {
  const { brandColor } = locals.app.config.service;
  if (brandColor === null) error(404);

  return new Response(brandCss(brandColor), {
    headers: { 'content-type': 'text/css; charset=utf-8', 'cache-control': `public, max-age=${hourSeconds}` },
  });
};
