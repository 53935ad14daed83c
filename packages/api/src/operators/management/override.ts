import type { z } from 'zod';
import type { App } from '../../app.ts';
import type { ManagingKey } from '../../auth/principal.ts';
import { readableTarget, targetField } from '../../auth/sessions/target-organisation.ts';
import { type Override, readOverride } from '../../billing/entitlement/override.ts';
import { AppError } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import { endOverride, overrideFields, setOverride } from '../organisations/override.ts';
import { byKey } from './authority.ts';
import type { organisationTargetInput } from './organisations.ts';

export const setManagedOverrideInput = overrideFields.extend({ organisation: targetField });

type OneOrganisation = z.output<typeof organisationTargetInput>;

/** Returns what was agreed with an organisation. @throws AppError NOT_FOUND, also where nothing is. */
export async function readManagedOverride(
  app: App,
  key: ManagingKey,
  { organisation }: OneOrganisation,
): Promise<Override> {
  const { organisationId } = await readableTarget(app, key, organisation);
  const override = await readOverride(app, organisationId);
  if (override === null) throw new AppError('NOT_FOUND', 'This organisation has no override.');
  return override;
}

/** States what was agreed with an organisation, as `setOverride` does. @throws AppError as it. */
export async function setManagedOverride(
  app: App,
  key: ManagingKey,
  { organisation, ...fields }: z.output<typeof setManagedOverrideInput>,
  client: Client,
): Promise<Override> {
  const { organisationId } = await readableTarget(app, key, organisation);
  return (await setOverride(app, { organisationId, ...fields }, byKey(key, client))).override;
}

/** Ends what was agreed with an organisation, if anything is. @throws AppError NOT_FOUND for an unknown organisation. */
export async function endManagedOverride(
  app: App,
  key: ManagingKey,
  { organisation }: OneOrganisation,
  client: Client,
): Promise<{ ok: true }> {
  const { organisationId } = await readableTarget(app, key, organisation);
  await endOverride(app, { organisationId }, byKey(key, client));
  return { ok: true };
}
