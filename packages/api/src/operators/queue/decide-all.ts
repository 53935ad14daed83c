import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import type { Client } from '../../platform/security/client.ts';
import { freeLine } from '../../platform/security/text.ts';
import { shownTime } from '../actor.ts';
import { approve, decline, declineReason } from './decide.ts';
import { waitingIds } from './read-queue.ts';

export const approveAllInput = z.object({
  search: freeLine(100).optional(),
  /** When the page was read that counted the requests: later ones are not decided. */
  until: shownTime,
});
export const declineAllInput = approveAllInput.extend({ reason: declineReason });

/** Approves every request that a search of the queue found, at most 1,000, as `approve` does those that are named. */
export async function approveAll(
  app: App,
  principal: Operator,
  input: z.output<typeof approveAllInput>,
  client: Client,
) {
  return approve(app, principal, { organisation_ids: await waitingIds(app, input) }, client);
}

/** Declines every request that a search of the queue found, at most 1,000, as `decline` does those that are named. */
export async function declineAll(
  app: App,
  principal: Operator,
  { reason, ...found }: z.output<typeof declineAllInput>,
  client: Client,
) {
  return decline(app, principal, { organisation_ids: await waitingIds(app, found), reason }, client);
}
