import type { Ask } from './connection.ts';

/** Returns the provider's status of a dispute. @throws AppError PROVIDER_UNAVAILABLE. */
export async function disputeStatus(ask: Ask, id: string): Promise<string> {
  return (await ask((provider) => provider.disputes.retrieve(id))).status;
}

/** The statuses of an open dispute. Those that begin with `warning_` are of an inquiry of the bank, which takes no money. */
export const openDisputes = ['needs_response', 'under_review'];
