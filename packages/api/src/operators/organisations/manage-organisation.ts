import type { z } from 'zod';
import type { App } from '../../app.ts';
import { AppError } from '../../errors.ts';
import type { Client } from '../../security/client.ts';
import type { Operator } from '../../sessions/principal.ts';
import { readOrganisationNames } from '../find-accounts.ts';
import { optionalReason } from '../reason.ts';
import { organisationInput } from './read-organisation.ts';
import { restoreOrganisation, suspendOrganisation } from './suspend-organisation.ts';

export const suspendOrganisationInput = organisationInput.extend({ reason: optionalReason });

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
  await suspendOrganisation(app, { organisationId: id, reason }, { actorId: user.id, client });
  return readOrganisationNames(app.db, id);
}

/**
 * Ends an organisation's suspension and brings back the state before it.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the organisation is not suspended.
 */
export async function restore(
  app: App,
  principal: Operator,
  { organisation_id: id }: z.output<typeof organisationInput>,
  client: Client,
) {
  const { user } = principal;
  await restoreOrganisation(app, { organisationId: id }, { actorId: user.id, client });
  return readOrganisationNames(app.db, id);
}
