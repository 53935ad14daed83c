import type { Fields } from './fields.ts';
import { canonical, undo } from './previous-state.ts';
import {
  readSubscriptionState,
  type StatusClass,
  type SubscriptionState,
  statusClassOf,
} from './subscription-state.ts';

/** A stored event that shows the state of its subscription. */
export type StateEvent = {
  id: string;
  /** Our order of arrival: it decides which events a snapshot can include, never their order at the provider. */
  number: number;
  /** The provider's clock, in whole seconds. */
  created: number;
  /** The subscription as the event shows it. */
  object: Fields;
  /** The values before the change; null for an event that shows a state but no change. */
  previous: Fields | null;
  /** The state that the object shows, if it is read already. */
  state?: SubscriptionState;
};

export type Projection = {
  /** The number of the deciding event. */
  number: number;
  state: SubscriptionState;
  /** False if the events permit another state: the provider has to be asked. */
  certain: boolean;
  /** For a past-due subscription: the second of the first event of the current run of failed payments. */
  pastDueSince: number | null;
};

/**
 * Computes the state that a set of events shows. The result depends on the set alone, not on
 * order of arrival or duplicates. An ended status wins over all others; otherwise the newest
 * second wins, and within it the state that no other event leaves. Null without readable events.
 *
 * A run of failed payments begins after `settledNumber`: the number of the last event before
 * the provider itself answered that nothing was due.
 */
export function project(events: Iterable<StateEvent>, settledNumber = 0): Projection | null {
  const parsed = distinct(events);
  const ended = parsed.filter((event) => event.statusClass === 'ended');
  const decided = lastOf(ended.length > 0 ? ended : parsed);
  if (decided === null) return null;

  const { event, certain } = decided;
  return {
    number: event.number,
    state: event.state,
    certain: certain || ended.length > 0,
    pastDueSince: event.statusClass === 'past_due' ? startOfRun(parsed, event, settledNumber) : null,
  };
}

type ParsedEvent = StateEvent & { state: SubscriptionState; statusClass: StatusClass };

/** The readable events, one for each id, sorted by id. */
function distinct(events: Iterable<StateEvent>): ParsedEvent[] {
  const byId = new Map<string, ParsedEvent>();
  for (const event of events) {
    if (byId.has(event.id)) continue;
    const state = event.state ?? readSubscriptionState(event.object);
    if (state !== null) byId.set(event.id, { ...event, state, statusClass: statusClassOf(state.status) });
  }
  return [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** The event with the last state of the newest second. */
function lastOf(parsed: ParsedEvent[]): { event: ParsedEvent; certain: boolean } | null {
  const newest = newestSecond(parsed);
  const second = parsed.filter(({ created }) => created === newest);
  const last = second.at(-1);
  if (last === undefined) return null;
  if (second.length === 1) return { event: last, certain: true };

  const changes = second.map((event) => ({
    event,
    after: canonical(event.object),
    before: event.previous === null ? null : canonical(undo(event.object, event.previous)),
  }));
  const moves = changes.filter(({ before, after }) => before !== null && before !== after);
  const left = new Set(moves.map(({ before }) => before));
  const remaining = changes.filter(({ after }) => !left.has(after));
  const event = remaining.at(-1)?.event ?? last;
  const onePath = formOnePath(moves, [...left, ...changes.map(({ after }) => after)]);
  return { event, certain: onePath && new Set(remaining.map(({ after }) => after)).size === 1 };
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

/**
 * The second of the first past-due event after the newest event of another status; that
 * event's own second counts if it certainly ends past due.
 */
function startOfRun(parsed: ParsedEvent[], last: ParsedEvent, settledNumber: number): number {
  const broken = newestSecond(parsed.filter(({ statusClass }) => statusClass !== 'past_due'));
  const inThatSecond = lastOf(parsed.filter(({ created }) => created === broken));
  const first = inThatSecond?.certain && inThatSecond.event.statusClass === 'past_due' ? broken : broken + 1;

  const run = parsed.filter(
    ({ created, statusClass, number }) => statusClass === 'past_due' && created >= first && number > settledNumber,
  );
  return run.reduce((earliest, { created }) => Math.min(earliest, created), last.created);
}

function newestSecond(parsed: ParsedEvent[]): number {
  return parsed.reduce((latest, { created }) => Math.max(latest, created), -1);
}
