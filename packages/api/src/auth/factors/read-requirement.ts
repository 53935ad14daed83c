import type { App } from '../../app.ts';
import { isProviderConfirmed } from '../password/fresh-sign-in.ts';
import type { Approved } from '../principal.ts';

/** Returns what the page shows to a user who must set up a second factor; null once nothing is missing. */
export async function readRequirement(app: App, principal: Approved) {
  const { factorMissing, hasFactor } = principal;
  if (factorMissing === null) return null;
  return {
    required_by: factorMissing,
    /** Whether the account has a factor, which was not given in this session yet. */
    has_factor: hasFactor,
    offers_totp: app.config.secretKeys.length > 0,
    /** Whether only a code is missing to confirm the user: they have just come back from the identity provider. */
    provider_confirmed: await isProviderConfirmed(app, app.db, principal),
  };
}
