import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** One JSON document on disk, or in memory only if it has no path. */
export interface StoredFile<T> {
  value: T;
  /** Writes the value. The file holds either the old or the new document at any time, also after a crash. */
  save(): void;
  /** Writes the value within 200 ms, for frequent changes whose loss is acceptable. */
  saveSoon(): void;
  /** Writes the value a last time; later calls write nothing. */
  close(): void;
}

const soonMs = 200;

/**
 * Opens a document, or starts it from `initial`. Members that an older version did not write
 * have the value of `initial`.
 *
 * @throws Error if the file exists and is not JSON.
 */
export function openStoredFile<T extends object>(path: string | null, initial: T): StoredFile<T> {
  let timer: NodeJS.Timeout | undefined;
  let closed = path === null;
  const value = path === null ? initial : { ...initial, ...read(path) };
  const file: StoredFile<T> = { value, save, saveSoon, close };
  return file;

  function save(): void {
    clearTimeout(timer);
    timer = undefined;
    if (path === null || closed) return;
    const temporary = `${path}.${process.pid}.new`;
    writeFileSync(temporary, JSON.stringify(file.value));
    renameSync(temporary, path);
  }

  function saveSoon(): void {
    if (!closed) timer ??= setTimeout(save, soonMs).unref();
  }

  function close(): void {
    save();
    closed = true;
  }
}

function read(path: string): object {
  mkdirSync(dirname(path), { recursive: true });
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    return JSON.parse(text) as object;
  } catch (cause) {
    throw new Error(`The sandbox cannot read ${path}. Remove the file to start with an empty state.`, { cause });
  }
}
