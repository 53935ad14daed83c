import type { ChangeReader } from '../changes/read-changes.ts';
import type { Holding, Principal } from './principal.ts';

/** Returns the id by which a principal's waiting requests are counted: that of the key or the user. */
export function holderOf(principal: Principal): string {
  return principal.kind === 'key' ? principal.key.id : principal.user.id;
}

/**
 * Returns whose changes a principal may read: a key of the deployment those of every organisation, any
 * other principal those of its own.
 *
 * @throws AppError NO_ORGANISATION.
 */
export function changeReaderOf(principal: Principal & Holding<'READ'>): ChangeReader {
  if (principal.kind === 'key' && principal.organisation === null) return { reads: 'deployment' };
  return { reads: 'organisation', organisationId: principal.requireOrganisation().id };
}
