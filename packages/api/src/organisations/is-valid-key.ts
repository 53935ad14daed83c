import { and, gt, isNull, or, type Placeholder, type SQL } from 'drizzle-orm';
import { apiKeys } from '../platform/db/schema/keys.ts';

/**
 * The condition for API keys that are valid at a time: neither revoked nor expired. The approval of a key's organisation
 * is no part of it: a key of a closed organisation is known, and gets another error.
 */
export function isValidKey(now: Date | Placeholder): SQL | undefined {
  return and(isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)));
}
