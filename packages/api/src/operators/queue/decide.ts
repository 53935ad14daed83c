import { inArray } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Transaction } from '../../db/client.ts';
import { organisations } from '../../db/schema/organisations.ts';
import { approveOrganisations, approvePending, declineOrganisations } from '../../organisations/approve.ts';
import type { Client } from '../../security/client.ts';
import { freeLine } from '../../security/text.ts';
import type { Operator } from '../../sessions/principal.ts';
import { createMissingOrganisations } from '../create-missing-organisations.ts';

const organisationIds = z
  .array(z.uuid('Choose organisations from the list.'), { error: 'Choose at least one organisation.' })
  .min(1, 'Choose at least one organisation.')
  .max(200, 'Choose at most 200 organisations at once.');

export const approveInput = z.object({
  organisation_ids: organisationIds,
  /** Whether declined organisations are approved as well: a page that showed them as waiting does not end a decline. */
  ends_decline: z.boolean().default(false),
});
export const declineInput = z.object({
  organisation_ids: organisationIds,
  reason: freeLine(300)
    .optional()
    .transform((reason) => reason || 'No reason was given.'),
});

/**
 * Opens the approval gate of organisations that await approval, and with `ends_decline` of declined ones. The id of a
 * user without an organisation, as the queue lists it, creates the user's organisation first. Returns those that were
 * approved: about the others, another operator had decided before.
 */
export async function approve(app: App, principal: Operator, input: z.output<typeof approveInput>, client: Client) {
  const { user } = principal;
  const approveThem = input.ends_decline ? approveOrganisations : approvePending;

  return app.db.transaction(async (tx) => {
    const now = app.now();
    const organisationIds = await createMissingOrganisations(tx, now, input.organisation_ids);
    return named(tx, await approveThem(tx, { organisationIds, actorId: user.id, client, now }));
  });
}

/**
 * Closes organisations that await approval, and ends the sessions of their members. Takes the
 * same ids as `approve`. Returns those that were declined.
 */
export async function decline(app: App, principal: Operator, input: z.output<typeof declineInput>, client: Client) {
  const { user } = principal;

  return app.db.transaction(async (tx) => {
    const now = app.now();
    const organisationIds = await createMissingOrganisations(tx, now, input.organisation_ids);
    const decision = { organisationIds, actorId: user.id, client, now, reason: input.reason };
    return named(tx, await declineOrganisations(tx, decision));
  });
}

/** Returns how many organisations a decision changed, and the first of them. */
async function named(tx: Transaction, ids: string[]) {
  const [first] = await tx
    .select({ id: organisations.id, name: organisations.name, slug: organisations.slug })
    .from(organisations)
    .where(inArray(organisations.id, ids.slice(0, 1)));
  return { changed: ids.length, first: first === undefined ? null : { id: first.id, name: first.name ?? first.slug } };
}
