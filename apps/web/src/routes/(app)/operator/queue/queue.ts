import type { PageData } from '../$types';

export type WaitingOrganisation = PageData['queue']['waiting'][number];

/**
 * Returns the id of the element that takes the focus once these organisations are gone from the
 * list: the action of the row below the last of them, else of the row above. Empty without one.
 */
export function focusAfter(waiting: WaitingOrganisation[], ids: string[], action: 'approve' | 'decline'): string {
  const isGone = ({ organisation }: WaitingOrganisation) => ids.includes(organisation.id);
  const last = waiting.findLastIndex(isGone);
  const next = waiting.slice(last + 1)[0] ?? waiting.slice(0, last + 1).findLast((one) => !isGone(one));
  return next ? actionId(action, next.organisation.id) : '';
}

/** The id of the form that approves one request: its row's button. */
export const approveForm = 'approve';

/** The id of a row's action. */
export function actionId(action: 'approve' | 'decline', organisationId: string): string {
  return `${action}-${organisationId}`;
}
