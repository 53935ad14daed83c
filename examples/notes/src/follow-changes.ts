import type { Following, Gatehouse } from '@gatehouse/client';
import type { Store } from './store.ts';

/** Forgets what belongs to an organisation or a user that was deleted in Gatehouse, also while this service was down. */
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
