import type { Client } from '../platform/security/client.ts';

/** The actor of a change: an operator in the console, or an admin command. */
export type Actor = {
  /** Null for an admin command. */
  actorId: string | null;
  client?: Client;
};

export const commandLine: Actor = { actorId: null };
