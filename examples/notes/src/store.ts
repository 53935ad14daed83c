import { randomUUID } from 'node:crypto';
import fs from 'node:fs';

export type Note = { id: string; organisation: string; author: string | null; text: string; at: string };

type StoredData = { notes: Note[]; cursor: string | undefined };

/** The product's own data: notes by organisation, and how far it has read Gatehouse's changes. One file. */
export function openStore(file: string) {
  const stored: StoredData = fs.existsSync(file)
    ? (JSON.parse(fs.readFileSync(file, 'utf8')) as StoredData)
    : { notes: [], cursor: undefined };

  /** Replaces the file at once, so that a crash leaves the old one or the new one. */
  function save(): void {
    fs.writeFileSync(`${file}.new`, JSON.stringify(stored));
    fs.renameSync(`${file}.new`, file);
  }

  return {
    newId: () => randomUUID() as string,
    of: (organisation: string) => stored.notes.filter((note) => note.organisation === organisation).reverse(),
    /** How many notes each organisation has. */
    counts(): Map<string, number> {
      const counts = new Map<string, number>();
      for (const { organisation } of stored.notes) counts.set(organisation, (counts.get(organisation) ?? 0) + 1);
      return counts;
    },
    /** Who wrote the notes of an organisation. */
    authors: (organisation: string) =>
      new Set(
        stored.notes.flatMap((note) =>
          note.organisation === organisation && note.author !== null ? [note.author] : [],
        ),
      ),
    add(note: Omit<Note, 'at'>): void {
      stored.notes.push({ ...note, at: new Date().toISOString() });
      save();
    },
    /** Returns whether the organisation had this note. */
    remove(organisation: string, id: string): boolean {
      const kept = stored.notes.filter((note) => note.id !== id || note.organisation !== organisation);
      const isRemoved = kept.length < stored.notes.length;
      stored.notes = kept;
      save();
      return isRemoved;
    },
    forgetOrganisation(organisation: string): void {
      stored.notes = stored.notes.filter((note) => note.organisation !== organisation);
      save();
    },
    forgetAuthor(author: string): void {
      for (const note of stored.notes) if (note.author === author) note.author = null;
      save();
    },
    cursor: () => stored.cursor,
    setCursor(cursor: string): void {
      if (cursor === stored.cursor) return;
      stored.cursor = cursor;
      save();
    },
  };
}

export type Store = ReturnType<typeof openStore>;
