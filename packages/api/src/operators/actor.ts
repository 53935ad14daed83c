import type { Client } from '../security/client.ts';

/** Who changes something, and from where: an operator in the console, or the command line. */
export type Actor = {
  /** Null for the command line. */
  actorId: string | null;
  client?: Client;
};

export const commandLine: Actor = { actorId: null };
