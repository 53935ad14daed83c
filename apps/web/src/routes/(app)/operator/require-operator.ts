import { authenticate } from '@gatehouse/api/http/open-request';
import type { Caller } from '@gatehouse/api/router/root';
import { error as httpError, type RequestEvent } from '@sveltejs/kit';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import { requestSourceOf } from '#lib/server/request-source.ts';
import { organisationStatuses, userStatuses } from './parts/status-text.ts';

export type Operators = Caller['operators'];

/** Returns the operators' part of the router. Responds 403 if the user is not an operator. */
export function requireOperator(event: Pick<RequestEvent, 'locals' | 'url' | 'isDataRequest'>): Operators {
  if (!requirePage(event).operates) httpError(403, 'This page is for operators.');
  return event.locals.api.operators;
}

const idPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The id in the path of a page. Responds 404 to what is no id, as the page does to an unknown one. */
export function idOf(segment: string): string {
  if (!idPattern.test(segment)) httpError(404, 'Page not found.');
  return segment;
}

/** As `requireOperator`, but reads the session again: a download can outlast it, or the user's authority. */
export async function requireOperatorNow(event: RequestEvent): Promise<Operators> {
  await authenticate(event.locals, requestSourceOf(event));
  return requireOperator(event);
}

/** The search and the cursor of a list page. Empty ones are left out. */
export function listQuery({ searchParams }: URL): { search?: string; after?: string } {
  const search = searchParams.get('search')?.trim();
  const after = searchParams.get('after');
  return { ...(search && { search }), ...(after && { after }) };
}

/** The value of a filter in a list page's query; undefined for any and for what is not among its values. */
export function chosenIn<Value extends string>(
  { searchParams }: URL,
  name: string,
  values: readonly Value[],
): Value | undefined {
  return values.find((value) => value === searchParams.get(name));
}

/** What the list of organisations is narrowed to, by the query of its page or its download. */
export function organisationsQuery({ url, locals }: Pick<RequestEvent, 'url' | 'locals'>) {
  const status = chosenIn(url, 'status', organisationStatuses);
  const tiers = locals.app.plans.tiers.map(({ tier }) => tier);
  const tier = chosenIn(url, 'tier', tiers);
  return { ...listQuery(url), ...(status && { status }), ...(tier && { tier }) };
}

/** What the list of users is narrowed to, by the query of its page or its download. */
export function peopleQuery({ url }: Pick<RequestEvent, 'url'>) {
  const status = chosenIn(url, 'status', userStatuses);
  return { ...listQuery(url), ...(status && { status }) };
}
