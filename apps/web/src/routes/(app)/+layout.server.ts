import type { LayoutServerLoad } from './$types';

/** The organisations between which somebody can switch; those that wait are named too. */
export const load: LayoutServerLoad = async ({ locals: { principal, api } }) => ({
  organisations: principal?.gate === 'open' ? await api.organisations.mine() : [],
});
