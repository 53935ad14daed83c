import type { Ask } from './connection.ts';

/** Returns the provider's status of a dispute. @throws AppError PROVIDER_UNAVAILABLE. */
export async function disputeStatus(ask: Ask, id: string): Promise<string> {
  return (await ask((provider) => provider.disputes.retrieve(id))).status;
}

/** Asks for one dispute, so that a key that may not read them is refused. @throws AppError PROVIDER_UNAVAILABLE. */
export async function probeDisputes(ask: Ask): Promise<void> {
  await ask((provider) => provider.disputes.list({ limit: 1 }));
}

/** The statuses of an open dispute. Those that begin with `warning_` are of an inquiry of the bank, which takes no money. */
export const openDisputes = ['needs_response', 'under_review'];
