import type { Following, Gatehouse } from '@gatehouse/client';
import type { Store } from './store.ts';

/**
 * Deletes the notes of an organisation that was deleted in Gatehouse, and removes a deleted user from their notes,
 * also after this service was down.
 */
export function followDeletions(gatehouse: Gatehouse, store: Store): Following {
  return gatehouse.changes.follow({
    after: store.cursor(),
    onChange: ({ type, organisation, user }) => {
      if (type === 'organisation.deleted' && organisation !== null) store.forgetOrganisation(organisation);
      if (type === 'user.deleted' && user !== null) store.forgetAuthor(user);
    },
    onCursor: (cursor) => store.setCursor(cursor),
    onError: (error) => console.error('Changes could not be read:', (error as Error).message),
  });
}
