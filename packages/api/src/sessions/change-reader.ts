import type { ChangeReader } from '../changes/read-changes.ts';
import type { Holding } from './authorisation.ts';
import { organisationOf, type Principal } from './principal.ts';

/** Returns the id by which a principal's waiting requests are counted: that of the key or the user. */
export function holderOf(principal: Principal): string {
  return principal.kind === 'key' ? principal.key.id : principal.user.id;
}

/** Whose changes a principal may read: a key of the deployment all, any other its own organisation's. */
export function changeReaderOf(principal: Principal & Holding<'READ'>): ChangeReader {
  if (principal.kind === 'key' && principal.organisation === null) return { reads: 'deployment' };
  return { reads: 'organisation', organisationId: organisationOf(principal).id };
}
