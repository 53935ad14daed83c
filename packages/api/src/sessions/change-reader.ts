import type { ChangeReader } from '../changes/read-changes.ts';
import type { Holding } from './authorisation.ts';
import { organisationOf, type Principal } from './principal.ts';

/** Whose changes a principal may read: a key of the deployment all, any other its own organisation's. */
export function changeReaderOf(principal: Principal & Holding<'READ'>): ChangeReader {
  if (principal.kind === 'key' && principal.organisation === null) return { reads: 'deployment' };
  return { reads: 'organisation', organisationId: organisationOf(principal).id };
}
