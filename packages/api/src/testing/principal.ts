import { makePrincipal, type UserFacts, type UserPrincipal } from '../auth/principal.ts';

type Stated = 'user' | 'organisation' | 'role' | 'accountStatus' | 'sessionId';

/** Returns the principal of a session that began by a password long ago, of a user without a second factor. */
export function principalOf(facts: Pick<UserFacts, Stated> & Partial<UserFacts>): UserPrincipal {
  return makePrincipal({
    planRow: null,
    isShared: false,
    sharedHash: null,
    hasPassword: false,
    freshUntil: null,
    freshByFactor: false,
    byIdentity: false,
    hasFactor: false,
    identityFactor: false,
    hasPasskey: false,
    factorMissing: null,
    operates: facts.user.operator,
    reviewPending: false,
    ...facts,
  });
}
