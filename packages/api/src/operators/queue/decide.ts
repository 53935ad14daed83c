import { inArray } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { approveDeclined, approvePending, declineOrganisations } from '../../organisations/approve.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import type { Client } from '../../platform/security/client.ts';
import { freeLine } from '../../platform/security/text.ts';
import { createMissingOrganisations } from '../create-missing-organisations.ts';
import { shownTime } from '../read-entries.ts';

const organisationIds = z
  .array(z.uuid('Choose organisations from the list.'), { error: 'Choose at least one organisation.' })
  .min(1, 'Choose at least one organisation.')
  .max(200, 'Choose at most 200 organisations at once.');

export const approveInput = z.object({
  organisation_ids: organisationIds,
  /** The decline that the approval ends: a page that showed none, or an earlier one, ends no decline. */
  declined_at: shownTime.optional(),
});
export const declineInput = z.object({
  organisation_ids: organisationIds,
  reason: freeLine(300)
    .optional()
    .transform((reason) => reason || 'No reason was given.'),
});

/**
 * Opens the approval gate of organisations that await approval, or with `declined_at` of those that were declined then;
 * suspended ones do not change. The id of a user without an organisation, as the queue lists it, creates the user's
 * organisation first. Returns those that were approved: about the others, another operator had decided before.
 */
export async function approve(app: App, principal: Operator, input: z.output<typeof approveInput>, client: Client) {
  const { user } = principal;
  const { declined_at: declinedAt } = input;

  return app.db.transaction(async (tx) => {
    const now = app.now();
    const organisationIds = await createMissingOrganisations(tx, now, input.organisation_ids);
    const decision = { organisationIds, actorId: user.id, client, now };
    return named(
      tx,
      declinedAt ? await approveDeclined(tx, { ...decision, declinedAt }) : await approvePending(tx, decision),
      now,
    );
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
    return named(tx, await declineOrganisations(tx, decision), now);
  });
}

/** Returns how many organisations a decision changed, and the first of them with the time of the decision. */
async function named(tx: Transaction, ids: string[], now: Date) {
  const [first] = await tx
    .select({ id: organisations.id, name: organisations.name, slug: organisations.slug })
    .from(organisations)
    .where(inArray(organisations.id, ids.slice(0, 1)));
  if (first === undefined) return { changed: 0, first: null };
  const { id, name, slug } = first;
  return { changed: ids.length, first: { id, name: name ?? slug, decided_at: now.toISOString() } };
}
