import { error } from '@sveltejs/kit';
import type { RequestHandler } from './$types';

const yearSeconds = 365 * 24 * 60 * 60;

/** The company's own picture, from a file on this machine. Its address changes with the content. */
export const GET: RequestHandler = ({ locals, params }) => {
  const { light, dark } = locals.app.config.logoFiles;
  const file = params.scheme === 'dark' ? dark : params.scheme === 'light' ? light : null;
  if (file === null) error(404);

  return new Response(new Uint8Array(file.body), {
    headers: {
      'content-type': file.type,
      'cache-control': `public, max-age=${yearSeconds}, immutable`,
      // Opened by itself, an SVG runs no script.
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    },
  });
};
