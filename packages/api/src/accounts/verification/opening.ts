import type { verificationLinks } from '../../db/schema/accounts.ts';
import type { Client } from '../../security/client.ts';

/** A verification link that was just consumed, what the request proves beside it, and where it came from. */
export type Opening = {
  link: typeof verificationLinks.$inferSelect;
  /** Of the cookie that a sign-up leaves in its browser. */
  browserToken: string | null;
  /** The user whose session the request carries. */
  signedInUserId: string | null;
  client: Client;
};
