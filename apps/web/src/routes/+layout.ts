import { loadTexts } from '#catalogue';
import type { LayoutLoad } from './$types';

/** Loads the texts of the page in a browser, before the page is shown or hydrated. */
export const load: LayoutLoad = async ({ route, data }) => {
  await loadTexts(route.id);
  return data;
};
