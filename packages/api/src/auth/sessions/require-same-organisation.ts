import { z } from 'zod';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Authority } from '../principal.ts';

/** The organisation that the page of a request showed. Part of every request that changes an organisation. */
export const organisationField = z.uuid(zodMessage('no_such_organisation'));

/**
 * Returns the organisation that the principal acts for, which must be the one that the page
 * showed: another tab may have switched it since, and the user may be a member of both.
 *
 * @throws AppError NOT_FOUND if it is another one; NO_ORGANISATION.
 */
export function requireSameOrganisation(principal: Authority, id: unknown) {
  const organisation = principal.requireOrganisation();
  if (organisation.id !== id) {
    throw new AppError('NOT_FOUND', message('switched_elsewhere'));
  }
  return organisation;
}

/**
 * Does what `requireSameOrganisation` does for requests of the interface, which need not name an
 * organisation: without one they concern the organisation that the principal acts for.
 *
 * @throws AppError NOT_FOUND if it is another one; NO_ORGANISATION.
 */
export function requireSameOrganisationIfNamed(principal: Authority, id: unknown) {
  return id === undefined ? principal.requireOrganisation() : requireSameOrganisation(principal, id);
}
