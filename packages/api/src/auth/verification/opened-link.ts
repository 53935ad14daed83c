import type { verificationLinks } from '../../platform/db/schema/accounts.ts';
import type { Client } from '../../platform/security/client.ts';

/** A verification link that was just consumed, and what else the request proves. */
export type OpenedLink = {
  link: typeof verificationLinks.$inferSelect;
  /** The token of the cookie that a sign-up sets. */
  browserToken: string | null;
  /** The user whose session the request carries. */
  signedInUserId: string | null;
  client: Client;
};
