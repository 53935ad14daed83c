import type { z } from 'zod';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { AppError } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import { readOrganisationNames } from '../find-accounts.ts';
import { shownTime } from '../read-entries.ts';
import { optionalReason } from '../reason.ts';
import { organisationInput } from './read-organisation.ts';
import { restoreOrganisation, suspendOrganisation } from './suspend-organisation.ts';

export const suspendOrganisationInput = organisationInput.extend({ reason: optionalReason });
export const restoreOrganisationInput = organisationInput.extend({ suspended_at: shownTime });

/**
 * Suspends an organisation, and stores the reason with the audit entry, for operators only.
 *
 * @throws AppError NOT_FOUND; VALIDATION for the organisation that the operator acts
 *   for, or if it is suspended already.
 */
export async function suspend(
  app: App,
  principal: Operator,
  { organisation_id: id, reason }: z.output<typeof suspendOrganisationInput>,
  client: Client,
) {
  const { user, organisationId: own } = principal;
  if (own === id) throw new AppError('VALIDATION', 'You cannot suspend your own organisation.');
  const at = await suspendOrganisation(app, { organisationId: id, reason }, { actorId: user.id, client });
  return { ...(await readOrganisationNames(app.db, id)), suspended_at: at.toISOString() };
}

/**
 * Ends the suspension of an organisation that the operator's page showed, and brings back the state before it.
 *
 * @throws AppError NOT_FOUND; VALIDATION if it has ended since.
 */
export async function restore(
  app: App,
  principal: Operator,
  { organisation_id: id, suspended_at: suspendedAt }: z.output<typeof restoreOrganisationInput>,
  client: Client,
) {
  const { user } = principal;
  await restoreOrganisation(app, { organisationId: id, suspendedAt }, { actorId: user.id, client });
  return readOrganisationNames(app.db, id);
}
