import { z } from 'zod';
import { AppError } from '../errors.ts';
import { organisationOf, type Principal } from './principal.ts';

/** Part of every change to who belongs to an organisation: which one the page that asks was about. */
export const organisationField = z.uuid('There is no such organisation.');

/**
 * The organisation that the principal acts for, which must be the one that was meant:
 * another tab may have changed it, and the same person may belong to both.
 *
 * @throws AppError NOT_FOUND for another one.
 */
export function requireSameOrganisation(principal: Principal, id: unknown) {
  const organisation = organisationOf(principal);
  if (organisation.id !== id) {
    throw new AppError('NOT_FOUND', 'You act for another organisation by now. Load the page again.');
  }
  return organisation;
}

/**
 * The same for the requests of the interface, which need not name an organisation: without
 * one they are about the organisation that the principal acts for.
 */
export function organisationMeantIfNamed(principal: Principal, id: unknown) {
  return id === undefined ? organisationOf(principal) : requireSameOrganisation(principal, id);
}
