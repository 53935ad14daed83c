/** A folder of a language's texts, which a browser loads as a whole. */
export type Area = 'shared' | 'sign-in' | 'app' | 'operator';

/** The texts that the pages of a route need in the browser. Error pages without a route need the shared ones. */
export function areasOf(routeId: string | null): Area[] {
  const id = `${routeId ?? ''}/`;
  if (id.startsWith('/(app)/operator/')) return ['shared', 'app', 'operator'];
  if (id.startsWith('/(app)/')) return ['shared', 'app'];
  // It has the forms of the account's page.
  if (id === '/awaiting-approval/account/') return ['shared', 'sign-in', 'app'];
  return ['shared', 'sign-in'];
}
