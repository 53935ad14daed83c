import { z } from 'zod';
import type { App } from '../app.ts';
import { approveOrganisations, declineOrganisations } from '../organisations/approve.ts';
import type { Client } from '../security/client.ts';
import { freeLine } from '../security/text.ts';
import type { Operator } from '../sessions/authorisation.ts';
import { foundOrganisations } from './found-organisations.ts';

const organisationIds = z
  .array(z.uuid('Choose organisations from the list.'), { error: 'Choose at least one organisation.' })
  .min(1, 'Choose at least one organisation.')
  .max(200, 'Choose at most 200 organisations at once.');

export const approveInput = z.object({ organisation_ids: organisationIds });
export const declineInput = z.object({
  organisation_ids: organisationIds,
  reason: freeLine(300)
    .optional()
    .transform((reason) => reason || 'No reason was given.'),
});

/**
 * Opens the approval gate of organisations. The id of a user without an organisation, as the
 * queue lists it, creates the user's organisation first. Returns how many were approved: the
 * others had been approved before.
 */
export async function approve(app: App, principal: Operator, input: z.output<typeof approveInput>, client: Client) {
  const { user } = principal;

  const changed = await app.db.transaction(async (tx) => {
    const now = app.now();
    const organisationIds = await foundOrganisations(tx, now, input.organisation_ids);
    return approveOrganisations(tx, { organisationIds, actorId: user.id, client, now });
  });
  return { changed: changed.length };
}

/**
 * Closes organisations that await approval, and ends the sessions of their members. Takes the
 * same ids as `approve`. Returns how many were declined.
 */
export async function decline(app: App, principal: Operator, input: z.output<typeof declineInput>, client: Client) {
  const { user } = principal;

  const changed = await app.db.transaction(async (tx) => {
    const now = app.now();
    const organisationIds = await foundOrganisations(tx, now, input.organisation_ids);
    return declineOrganisations(tx, { organisationIds, actorId: user.id, client, now, reason: input.reason });
  });
  return { changed: changed.length };
}
