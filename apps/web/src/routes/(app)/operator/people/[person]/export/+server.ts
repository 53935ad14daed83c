import { error as httpError, redirect } from '@sveltejs/kit';
import { pageErrorOf } from '#lib/server/language/page-error.ts';
import { requireOperator } from '../../../require-operator.ts';
import type { RequestHandler } from './$types';

/** What is stored about a person, as a file. In a session that is not fresh the person's page asks for a sign-in first. */
export const GET: RequestHandler = async (event) => {
  const { person } = event.params;
  const data = await requireOperator(event)
    .export({ user_id: person })
    .catch((thrown: unknown) => {
      const { status, body } = pageErrorOf(thrown);
      if (body.code === 'FRESH_SIGN_IN_REQUIRED') redirect(303, `/operator/people/${person}?ask=export`);
      return httpError(status, body.error);
    });
  return new Response(`${JSON.stringify(data, null, 2)}\n`, {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': 'attachment; filename="account.json"',
      'cache-control': 'no-store',
    },
  });
};

/** Kit would answer HEAD by GET, which is recorded. */
export const HEAD: RequestHandler = (event) => {
  requireOperator(event);
  return new Response(null, { headers: { 'content-type': 'application/json; charset=utf-8' } });
};
