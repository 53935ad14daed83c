import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { type Actor, recordAudit } from '../audit/record.ts';
import type { Administrator } from '../auth/principal.ts';
import { organisationField, requireSameOrganisation } from '../auth/sessions/require-same-organisation.ts';
import { recordChange } from '../changes/record-change.ts';
import type { Transaction } from '../platform/db/client.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { AppError } from '../platform/errors.ts';
import { message, zodMessage } from '../platform/messages.ts';
import { emailField } from '../platform/security/address.ts';
import type { Client } from '../platform/security/client.ts';
import { oneLine } from '../platform/security/text.ts';
import { lockMembers, requireAdministrator } from './lock-members.ts';

/** The value that the form showed. If it is given, a later change by another user is not overwritten. */
const shownField = z.string(zodMessage('not_text')).nullish();

export const renameInput = z.object({
  organisation_id: organisationField,
  name: oneLine(100).refine((name) => name !== '', zodMessage('enter_name')),
  shown: shownField,
});

export const billingContactInput = z.object({
  organisation_id: organisationField,
  /** Empty or null: the provider writes to the address that was given at checkout. */
  email: z.union([z.literal('').transform(() => null), z.null(), emailField]),
  shown: shownField,
});

/**
 * Changes the organisation's name. Its slug stays, because other services know it by the slug.
 *
 * @throws AppError NO_ORGANISATION; FORBIDDEN if the principal is no longer an administrator under the lock of the
 *   members; NOT_FOUND for another organisation; VALIDATION where the name is no longer the one shown;
 *   UNAUTHENTICATED if the session ended meanwhile.
 */
export async function renameOwnOrganisation(
  app: App,
  principal: Administrator,
  { organisation_id, name, shown }: z.output<typeof renameInput>,
  client: Client,
): Promise<void> {
  const { id: organisationId } = requireSameOrganisation(principal, organisation_id);

  await app.db.transaction(async (tx) => {
    const before = await lockSettings(tx, organisationId, principal);
    if (before.name === name) return;
    requireUnchanged(before.name, shown);

    await storeName(app, tx, { organisationId, before, name }, { actorId: principal.user.id, client });
  });
}

type NewName = { organisationId: string; before: { slug: string; name: string | null }; name: string };

/** Gives an organisation, which the caller has locked, another name, as `renameOwnOrganisation` does. */
export async function storeName(
  app: App,
  tx: Transaction,
  { organisationId, before, name }: NewName,
  actor: Actor,
): Promise<void> {
  await tx.update(organisations).set({ name }).where(eq(organisations.id, organisationId));
  const data = { slug: before.slug, name };
  await recordChange(tx, app.now(), { type: 'organisation.renamed', organisationId, data });
  const details = { ...(before.name !== null && { from: before.name }), to: name };
  await recordAudit(tx, app.now(), { action: 'organisation-renamed', ...actor, organisationId, details });
}

/**
 * Changes the billing e-mail address, to which the payment provider sends the organisation's mail. A job sets it
 * at the provider; until then, and while the provider does not answer, it is only stored here.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND for another organisation; TOO_MANY after 30 calls of a user in an hour,
 *   because each change is a request to the provider; FORBIDDEN if the principal is no longer an administrator under
 *   the lock of the members; VALIDATION where the address is no longer the one shown; UNAUTHENTICATED if the session
 *   ended meanwhile.
 */
export async function changeBillingContact(
  app: App,
  principal: Administrator,
  { organisation_id, email, shown }: z.output<typeof billingContactInput>,
  client: Client,
): Promise<void> {
  const { id: organisationId } = requireSameOrganisation(principal, organisation_id);
  await app.throttle.take({ 'billing-contact-user': principal.user.id });

  await app.db.transaction(async (tx) => {
    const before = await lockSettings(tx, organisationId, principal);
    if (before.billingEmail === email) return;
    requireUnchanged(before.billingEmail, shown);

    await tx.update(organisations).set({ billingEmail: email }).where(eq(organisations.id, organisationId));
    // The entry contains no address, because it is kept longer than the account of the address.
    await recordAudit(tx, app.now(), {
      action: 'billing-contact-changed',
      actorId: principal.user.id,
      organisationId,
      client,
    });
    await app.jobs.send(tx, 'payment-contact', { organisationId }, { key: organisationId });
  });
  app.jobs.wake('payment-contact');
}

/** Locks the organisation, requires that the user still administers it, and returns its settings. */
async function lockSettings(tx: Transaction, organisationId: string, principal: Administrator) {
  await requireAdministrator(tx, await lockMembers(tx, organisationId), principal);
  const [settings] = await tx
    .select({ slug: organisations.slug, name: organisations.name, billingEmail: organisations.billingEmail })
    .from(organisations)
    .where(eq(organisations.id, organisationId));
  if (settings === undefined) throw new AppError('NOT_FOUND', message('no_such_organisation'));
  return settings;
}

function requireUnchanged(stored: string | null, shown: string | null | undefined): void {
  if (shown === undefined || (stored ?? '') === (shown ?? '')) return;
  throw new AppError('VALIDATION', message('changed_by_someone_else'));
}
