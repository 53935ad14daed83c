import { formHeader, locationHeader } from '#lib/page-script/headers.ts';

/** Answers a form that the page script sent with 204 and a header in place of a redirect. The cookies stay. */
export function redirectInHeader(request: Request, response: Response): Response {
  const location = response.headers.get('location');
  if (location === null || request.method !== 'POST' || !request.headers.has(formHeader)) return response;

  const headers = new Headers(response.headers);
  headers.delete('location');
  headers.set(locationHeader, location);
  return new Response(null, { status: 204, headers });
}
