import type { Fields } from './fields.ts';
import { canonical, undo } from './previous-state.ts';
import {
  readSubscriptionState,
  type StatusClass,
  type SubscriptionState,
  statusClassOf,
} from './subscription-state.ts';

/** An event that tells the state of its subscription. */
export type StateEvent = {
  id: string;
  /** Our order of arrival: says what a snapshot can have seen, never what came first at the provider. */
  number: number;
  /** The provider's clock, in whole seconds. */
  created: number;
  /** The subscription as the event shows it. */
  object: Fields;
  /** What the change replaced; null where the event tells a state but no change. */
  previous: Fields | null;
};

export type Projection = {
  /** The event that decides. */
  number: number;
  state: SubscriptionState;
  /** Whether the events leave no doubt. */
  certain: boolean;
  /** For a subscription that is past due: the provider's second of the first event of the unbroken run. */
  pastDueSince: number | null;
};

/**
 * The state that a set of events tells, a function of the set alone: neither the order
 * of arrival nor duplicates can change it. Ended statuses absorb; otherwise the newest
 * second wins, and within it the state that no other event leaves.
 *
 * A run of failed payments reaches back no further than `settledNumber`, the last event
 * before the provider itself said that nothing was due.
 */
export function project(events: Iterable<StateEvent>, settledNumber = 0): Projection | null {
  const told = distinct(events);
  const ended = told.filter((event) => event.statusClass === 'ended');
  const decided = lastOf(ended.length > 0 ? ended : told);
  if (decided === null) return null;

  const { event, certain } = decided;
  return {
    number: event.number,
    state: event.state,
    certain: certain || ended.length > 0,
    pastDueSince: event.statusClass === 'past_due' ? startOfRun(told, event, settledNumber) : null,
  };
}

type Told = StateEvent & { state: SubscriptionState; statusClass: StatusClass };

function distinct(events: Iterable<StateEvent>): Told[] {
  const byId = new Map<string, Told>();
  for (const event of events) {
    const state = readSubscriptionState(event.object);
    if (state !== null) byId.set(event.id, { ...event, state, statusClass: statusClassOf(state.status) });
  }
  return [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** The event that tells the last state of the newest second. */
function lastOf(told: Told[]): { event: Told; certain: boolean } | null {
  const newest = newestSecond(told);
  const second = told.filter(({ created }) => created === newest);
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
  const oneWay = areOneWay(moves, [...left, ...changes.map(({ after }) => after)]);
  return { event, certain: oneWay && new Set(remaining.map(({ after }) => after)).size === 1 };
}

type Move = { before: string | null; after: string };

/**
 * Whether all states lie on one way from a single beginning. Else an event is missing, or
 * payloads of two shapes meet, and a state that nothing leaves need not be the last one.
 */
function areOneWay(moves: Move[], states: (string | null)[]): boolean {
  const entered = new Set<string | null>(moves.map(({ after }) => after));
  const passed = new Set(states.filter((state) => !entered.has(state)).slice(0, 1));
  for (let before = 0; before !== passed.size; ) {
    before = passed.size;
    for (const move of moves) if (passed.has(move.before)) passed.add(move.after);
  }
  return states.every((state) => passed.has(state));
}

/**
 * The run begins after the newest event that is not past due; in that event's own
 * second where that second ends past due.
 */
function startOfRun(told: Told[], last: Told, settledNumber: number): number {
  const broken = newestSecond(told.filter(({ statusClass }) => statusClass !== 'past_due'));
  const inThatSecond = lastOf(told.filter(({ created }) => created === broken));
  const first = inThatSecond?.certain && inThatSecond.event.statusClass === 'past_due' ? broken : broken + 1;

  const run = told.filter(
    ({ created, statusClass, number }) => statusClass === 'past_due' && created >= first && number > settledNumber,
  );
  return run.reduce((earliest, { created }) => Math.min(earliest, created), last.created);
}

function newestSecond(told: Told[]): number {
  return told.reduce((latest, { created }) => Math.max(latest, created), -1);
}
