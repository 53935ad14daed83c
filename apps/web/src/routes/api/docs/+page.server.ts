import type { PageServerLoad } from './$types';
import { describe } from './describe.ts';

/** The OpenAPI document, in the form that the page shows. */
export const load: PageServerLoad = async ({ locals }) => {
  const document = await locals.api.service.openapi();
  return { title: document.info.title, description: document.info.description, groups: describe(document) };
};
