import { type Gatehouse, GatehouseError } from '@gatehouse/client';
import type { Store } from './store.ts';

export const maxCharacters = 2000;

/**
 * Counts one note within the plan's limit, then stores it and returns its id. The id is the idempotency key, so a
 * repeated request counts once.
 *
 * @throws GatehouseError LIMIT_REACHED, with a sentence for people, if the plan allows no more notes.
 */
export async function createNote(
  gatehouse: Gatehouse,
  store: Store,
  note: { organisation: string; author: string | null; text: string },
): Promise<string> {
  const id = store.newId();
  await gatehouse.usage.reserve({ organisation: note.organisation, meter: 'notes', idempotencyKey: id });
  store.add({ id, ...note });
  return id;
}

/** Deletes a note, and lowers the meter by one. Without Gatehouse the meter stays too high until `correctMeters`. */
export async function deleteNote(gatehouse: Gatehouse, store: Store, organisation: string, id: string): Promise<void> {
  if (!store.remove(organisation, id)) return;
  try {
    await gatehouse.usage.release({ organisation, meter: 'notes', idempotencyKey: `${id} deleted` });
  } catch (error) {
    if (!(error instanceof GatehouseError)) throw error;
    console.error('A meter could not be lowered:', error.message);
  }
}

/**
 * Sets the meter of every organisation to the number of its stored notes, from which a crash between reserving and
 * storing makes it differ. The numbers are of the time of the call: a meter that changes meanwhile keeps its later value.
 */
export async function correctMeters(gatehouse: Gatehouse, store: Store): Promise<void> {
  const at = new Date();
  const counts = store.counts();
  let after: string | null = null;
  do {
    const page: { organisations: { id: string }[]; next: string | null } = await gatehouse.organisations.list(
      after === null ? {} : { after },
    );
    for (const { id } of page.organisations)
      await setMeter(gatehouse, { organisation: id, used: counts.get(id) ?? 0, at });
    after = page.next;
  } while (after !== null);
}

async function setMeter(gatehouse: Gatehouse, count: { organisation: string; used: number; at: Date }): Promise<void> {
  try {
    await gatehouse.usage.set({ ...count, meter: 'notes' });
  } catch (error) {
    // The organisation is closed or deleted. The feed of changes reports a deletion.
    if (!(error instanceof GatehouseError) || ![403, 404].includes(error.status)) throw error;
  }
}
