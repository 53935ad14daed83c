import type { LayoutServerLoad } from './$types';

/** The user's organisations, for the menu that switches between them; also those that await approval. */
export const load: LayoutServerLoad = async ({ locals: { principal, api } }) => ({
  organisations: principal?.gate === 'open' ? await api.organisations.mine() : [],
});
