import type { Snippet } from 'svelte';

type TextWithDay = (values: { day: Snippet }) => string | (string | Snippet)[];

/** A line of the facts about a user or an organisation: a text or an id, or a time with a text that has {day}. */
export type Fact =
  | { name: string; value: string; mono?: boolean }
  | { name: string; at: string; as?: 'date' | 'date-time'; text?: TextWithDay };

/** The fact with a time, or nothing where there is none. */
export function timeFact(name: string, at: string | null): Fact[] {
  return at === null ? [] : [{ name, at }];
}
