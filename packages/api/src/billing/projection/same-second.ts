import type { Fields } from '../../platform/providers/untrusted-json.ts';
import { canonical, objectBefore } from './previous-state.ts';

/** An object after a change, and its values before the change; null for an event that shows no change. */
export type ObjectChange = { object: Fields; previous: Fields | null };

/**
 * Returns which of the events of one second shows the last state: the one that no other event leaves. Null if
 * each state is left. The provider's clock does not order these events.
 */
export function lastOfSecond<Event extends ObjectChange>(second: Event[]): { event: Event | null; certain: boolean } {
  const changes = second.map((event) => ({
    event,
    after: canonical(event.object),
    before: event.previous === null ? null : canonical(objectBefore(event.object, event.previous)),
  }));
  const moves = changes.filter(({ before, after }) => before !== null && before !== after);
  const left = new Set(moves.map(({ before }) => before));
  const remaining = changes.filter(({ after }) => !left.has(after));
  const onePath = formOnePath(moves, [...left, ...changes.map(({ after }) => after)]);
  return {
    event: remaining.at(-1)?.event ?? null,
    certain: onePath && new Set(remaining.map(({ after }) => after)).size === 1,
  };
}

type Move = { before: string | null; after: string };

/**
 * Whether the moves form one path from a single first state through all states. Otherwise an
 * event is missing, or payloads of two shapes are mixed, and a state that no event leaves is
 * not necessarily the last one.
 */
function formOnePath(moves: Move[], states: (string | null)[]): boolean {
  const entered = new Set<string | null>(moves.map(({ after }) => after));
  const reached = new Set(states.filter((state) => !entered.has(state)).slice(0, 1));
  for (let before = 0; before !== reached.size; ) {
    before = reached.size;
    for (const move of moves) if (reached.has(move.before)) reached.add(move.after);
  }
  return states.every((state) => reached.has(state));
}
