import { type Following, type Gatehouse, GatehouseError } from '@gatehouse/client';
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
    onReset: () => forgetMissing(gatehouse, store),
    onCursor: (cursor) => store.setCursor(cursor),
    onError: (error) => console.error('Changes could not be read:', (error as Error).message),
  });
}

/** After changes that were missed: forgets the organisations that are gone, and the authors who are no members any more. */
async function forgetMissing(gatehouse: Gatehouse, store: Store): Promise<void> {
  for (const organisation of store.counts().keys()) {
    const members = await membersOf(gatehouse, organisation);
    if (members === null) store.forgetOrganisation(organisation);
    else for (const author of store.authors(organisation)) if (!members.has(author)) store.forgetAuthor(author);
  }
}

/** The ids of an organisation's members; null if it was deleted. */
async function membersOf(gatehouse: Gatehouse, organisation: string): Promise<Set<string> | null> {
  const ids = new Set<string>();
  try {
    for (let after: string | null | undefined; after !== null; ) {
      const page: Awaited<ReturnType<Gatehouse['members']['list']>> = await gatehouse.members.list(
        after === undefined ? { organisation } : { organisation, after },
      );
      for (const { user } of page.members) ids.add(user.id);
      after = page.next;
    }
  } catch (error) {
    if (error instanceof GatehouseError && error.status === 404) return null;
    throw error;
  }
  return ids;
}
