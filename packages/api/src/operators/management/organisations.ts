import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { ManagingKey } from '../../auth/principal.ts';
import { lockUser } from '../../auth/sessions/account.ts';
import { listedOf, readableTarget, readListed, targetField } from '../../auth/sessions/target-organisation.ts';
import { storeName } from '../../members/change-settings.ts';
import { eraseOrganisation } from '../../members/leaving/delete-organisation.ts';
import { approvalOf, basicColumns } from '../../organisations/account-status.ts';
import { approveOrganisations, declineOrganisations } from '../../organisations/approve.ts';
import { provisionOrganisation } from '../../organisations/organisation.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { freeLine } from '../../platform/security/text.ts';
import { closeOrganisation, reopenOrganisation } from '../organisations/suspend-organisation.ts';
import { byKey, conflict, type KeyActor, lockClosable, requireNoOperator, requireNotOperators } from './authority.ts';
import { nameField } from './create-user.ts';

export const createManagedOrganisationInput = z.strictObject({
  name: nameField,
  owner: z.uuid('This must be the id of a user.').optional(),
});
export const organisationTargetInput = z.strictObject({ organisation: targetField });
export const renameManagedInput = organisationTargetInput.extend({ name: nameField });
export const declineManagedInput = organisationTargetInput.extend({
  reason: freeLine(300).refine((reason) => reason !== '', 'Give a reason. Only operators see it.'),
});

type OneOrganisation = z.output<typeof organisationTargetInput>;

/**
 * Creates an organisation that awaits approval, with an owner or none yet.
 *
 * @throws AppError VALIDATION for an unknown owner; FORBIDDEN for one who is an operator.
 */
export async function createManagedOrganisation(
  app: App,
  key: ManagingKey,
  { name, owner }: z.output<typeof createManagedOrganisationInput>,
  client: Client,
) {
  return app.db.transaction(async (tx) => {
    const ownerId = owner?.toLowerCase() ?? null;
    if (ownerId !== null) {
      if (!(await lockUser(tx, ownerId))) throw invalid({ owner: 'There is no such user.' });
      await requireNoOperator(tx, ownerId);
    }
    const now = app.now();
    const organisationId = await provisionOrganisation(tx, now, { name, ownerId });
    const entry = { action: 'organisation-created', ...byKey(key, client), userId: ownerId, organisationId } as const;
    await recordAudit(tx, now, entry);
    return readListed(app, tx, organisationId);
  });
}

/** Returns an organisation, by id or slug. @throws AppError NOT_FOUND. */
export async function readManagedOrganisation(app: App, key: ManagingKey, { organisation }: OneOrganisation) {
  return listedOf(app, await readableTarget(app, key, organisation));
}

/** Changes an organisation's name; its slug stays. @throws AppError NOT_FOUND. */
export function renameManagedOrganisation(
  app: App,
  key: ManagingKey,
  { name, ...named }: z.output<typeof renameManagedInput>,
  client: Client,
) {
  return change(app, key, named, client, async (tx, organisationId, actor) => {
    const before = await lockRow(tx, organisationId);
    if (before.name !== name) await storeName(app, tx, { organisationId, before, name }, actor);
  });
}

/** Approves an organisation, which ends a decline. @throws AppError NOT_FOUND; CONFLICT while it is suspended. */
export function approveManagedOrganisation(app: App, key: ManagingKey, named: OneOrganisation, client: Client) {
  return change(app, key, named, client, async (tx, organisationId, actor) => {
    if (approvalOf(await lockRow(tx, organisationId)) === 'suspended') throw closed();
    await approveOrganisations(tx, { ...actor, organisationIds: [organisationId], now: app.now() });
  });
}

/**
 * Declines an organisation that awaits approval.
 *
 * @throws AppError NOT_FOUND; FORBIDDEN for one that operators alone own; CONFLICT if it is approved or suspended.
 */
export function declineManagedOrganisation(
  app: App,
  key: ManagingKey,
  { reason, ...named }: z.output<typeof declineManagedInput>,
  client: Client,
) {
  return change(app, key, named, client, async (tx, organisationId, actor) => {
    await lockClosable(tx, organisationId);
    const approval = approvalOf(await lockRow(tx, organisationId));
    if (approval === 'suspended') throw closed();
    if (approval === 'approved') throw conflict('This organisation is approved: suspend it instead.');
    await declineOrganisations(tx, { ...actor, organisationIds: [organisationId], now: app.now(), reason });
  });
}

/** Suspends an organisation. @throws AppError NOT_FOUND; FORBIDDEN for one that operators alone own. */
export function suspendManagedOrganisation(app: App, key: ManagingKey, named: OneOrganisation, client: Client) {
  return change(app, key, named, client, async (tx, organisationId, actor) => {
    await lockClosable(tx, organisationId);
    await closeOrganisation(app, tx, { organisationId }, actor);
  });
}

/** Ends a suspension: the state before is back. @throws AppError NOT_FOUND; CONFLICT for a declined organisation. */
export function restoreManagedOrganisation(app: App, key: ManagingKey, named: OneOrganisation, client: Client) {
  return change(app, key, named, client, async (tx, organisationId, actor) => {
    if (approvalOf(await lockRow(tx, organisationId)) === 'declined') {
      throw conflict('This organisation was declined: approve it instead.');
    }
    await reopenOrganisation(app, tx, { organisationId }, actor);
  });
}

/**
 * Deletes an organisation; its members' accounts stay. Its subscriptions end at the provider first.
 *
 * @throws AppError NOT_FOUND; FORBIDDEN for one that operators alone own; BILLING_UNAVAILABLE, PROVIDER_UNAVAILABLE or
 *   BUSY if a subscription cannot be ended; BUSY if the organisation changed meanwhile.
 */
export async function deleteManagedOrganisation(
  app: App,
  key: ManagingKey,
  { organisation }: OneOrganisation,
  client: Client,
): Promise<{ ok: true }> {
  const { organisationId } = await readableTarget(app, key, organisation);
  const isStillWanted = async (db: Executor) => {
    await requireNotOperators(db, organisationId);
    return true;
  };
  await eraseOrganisation(app, organisationId, isStillWanted, byKey(key, client));
  return { ok: true };
}

async function change(
  app: App,
  key: ManagingKey,
  { organisation }: OneOrganisation,
  client: Client,
  act: (tx: Transaction, organisationId: string, actor: KeyActor) => Promise<void>,
) {
  const { organisationId } = await readableTarget(app, key, organisation);
  return app.db.transaction(async (tx) => {
    await act(tx, organisationId, byKey(key, client));
    return readListed(app, tx, organisationId);
  });
}

/** Locks an organisation and returns its names and state. @throws AppError NOT_FOUND if it was deleted meanwhile. */
export async function lockRow(tx: Transaction, organisationId: string) {
  const [row] = await tx
    .select(basicColumns)
    .from(organisations)
    .where(eq(organisations.id, organisationId))
    .for('no key update');
  if (row === undefined) throw new AppError('NOT_FOUND', message('no_such_organisation'));
  return row;
}

function closed(): AppError {
  return conflict('This organisation is suspended: restore it first.');
}
