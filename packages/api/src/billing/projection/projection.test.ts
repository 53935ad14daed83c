import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type History, history } from '../../testing/payment/random-history.ts';
import { decide, project, type StateEvent } from './projection.ts';
import { eventClassOf, readSubscriptionState, type SubscriptionState, statusClassOf } from './provider-objects.ts';

const runs = { numRuns: 3000 };

describe('the projection of a set of events', () => {
  test('does not depend on order or duplicates', () => {
    const shuffled = history.chain(({ events }) =>
      fc.record({
        events: fc.constant(events),
        arrived: fc
          .shuffledSubarray([...events, ...events], { minLength: events.length * 2 })
          .map((all) => all as StateEvent[]),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ events, arrived }) => {
        expect(project(arrived)).toEqual(project(events));
        // Nor do the numbers, which are given on arrival.
        const numbered = arrived.map((event, at) => ({ ...event, number: at + 1 }));
        const withoutNumbers = { number: 0, brokenNumber: 0 };
        expect({ ...project(numbered), ...withoutNumbers }).toEqual({ ...project(events), ...withoutNumbers });
      }),
      runs,
    );
  });

  test('equals the provider’s state, or is marked uncertain', () => {
    fc.assert(
      fc.property(history, ({ events, lastObject }) => {
        const projection = project(events);
        if (projection?.certain) expect(projection.state).toEqual(readSubscriptionState(lastObject));
      }),
      runs,
    );
  });

  test('is certain where the newest second holds one event', () => {
    fc.assert(
      fc.property(history, ({ events }) => {
        const newest = Math.max(...events.map(({ created }) => created));
        if (events.filter(({ created }) => created === newest).length === 1)
          expect(project(events)?.certain).toBe(true);
      }),
      runs,
    );
  });

  test('resolves most histories, equal seconds included', () => {
    const histories = fc.sample(history, 2000).map(({ events }) => project(events)?.certain);
    expect(histories.filter(Boolean).length).toBeGreaterThan(1600);
  });

  test('is the same from the deciding events alone', () => {
    fc.assert(
      fc.property(history, fc.nat(12), ({ events }, settledNumber) => {
        expect(project(deciding(events, settledNumber), settledNumber)).toEqual(project(events, settledNumber));
      }),
      runs,
    );
  });

  test('counts a run of failed payments from its first event', () => {
    fc.assert(
      fc.property(history, ({ events }) => {
        const projection = project(events);
        if (projection === null || !projection.certain || projection.state.status !== 'past_due') return;
        const since = startOfLastRun(events);
        expect(projection.pastDueSince).toBeGreaterThanOrEqual(since);
        if (secondsAreDistinct(events)) expect(projection.pastDueSince).toBe(since);
      }),
      runs,
    );
  });
});

/** Selects the events as `readProjectionInput` does, in memory; a test of `readProjectionInput` compares both. */
function deciding(events: StateEvent[], settledNumber: number): StateEvent[] {
  const statusClass = (event: StateEvent) => statusClassOf(String(event.object.status));
  const classOf = (event: StateEvent) => eventClassOf({ statusClass: statusClass(event) }, event.previous);
  const newest = Math.max(...events.map(({ created }) => created));
  const breaks = events.filter((event) => ['other', 'past_due_begins'].includes(classOf(event)));
  const broken = Math.max(-1, ...breaks.map(({ created }) => created));
  const run = events
    .filter((event) => statusClass(event) === 'past_due' && event.created > broken && event.number > settledNumber)
    .sort((one, other) => one.created - other.created);
  return [
    ...events.filter(({ created }) => created === newest || created === broken),
    ...events.filter((event) => statusClass(event) === 'ended'),
    ...run.slice(0, 1),
  ];
}

function startOfLastRun(events: History['events']): number {
  let since = events.at(-1)?.created ?? 0;
  for (const { object, created } of events.toReversed()) {
    if (object.status !== 'past_due') break;
    since = created;
  }
  return since;
}

function secondsAreDistinct(events: History['events']): boolean {
  return new Set(events.map(({ created }) => created)).size === events.length;
}

describe('within one second', () => {
  const active = { id: 'sub_1', customer: 'cus_1', status: 'active', cancel_at_period_end: false };
  const scheduled = { ...active, cancel_at_period_end: true };
  const was = (flag: boolean) => ({ cancel_at_period_end: flag });

  test('the state that no other event leaves wins, whatever the ids', () => {
    const schedule = { id: 'evt_z', number: 1, created: 5, object: scheduled, previous: was(false) };
    const start = { id: 'evt_a', number: 2, created: 5, object: active, previous: { status: 'incomplete' } };
    expect(project([schedule, start])).toMatchObject({ certain: true, state: { scheduled: true } });
  });

  test('payloads of two shapes in one second form no path, and no certain state', () => {
    const eventOf = (id: string, object: object, previous: object | null): StateEvent => ({
      id,
      number: 1,
      created: 5,
      object: { id: 'sub_1', customer: 'cus_1', ...object },
      previous: previous as StateEvent['previous'],
    });
    const inNewShape = [
      eventOf('evt_1', { status: 'incomplete', added: 1 }, null),
      eventOf('evt_2', { status: 'active', added: 1 }, { status: 'incomplete' }),
    ];
    const inOldShape = [
      eventOf('evt_3', { status: 'past_due' }, { status: 'active' }),
      eventOf('evt_4', { status: 'unpaid' }, { status: 'past_due' }),
      eventOf('evt_5', { status: 'past_due' }, { status: 'unpaid' }),
    ];
    expect(project([...inNewShape, ...inOldShape])?.certain).toBe(false);
    const around = eventOf('evt_6', { status: 'active' }, { status: 'past_due' });
    expect(project([...inNewShape, ...inOldShape, around])?.certain).toBe(false);
  });

  test('a change and its reversal leave no certain state', () => {
    const schedule = { id: 'evt_a', number: 1, created: 5, object: scheduled, previous: was(false) };
    const resume = { id: 'evt_b', number: 2, created: 5, object: active, previous: was(true) };
    expect(project([schedule, resume])?.certain).toBe(false);
  });

  test('two events for one change are certain', () => {
    const twice = ['evt_a', 'evt_b'].map((id, at) => ({
      id,
      number: at,
      created: 5,
      object: scheduled,
      previous: was(false),
    }));
    expect(project(twice)).toMatchObject({ certain: true, state: { scheduled: true } });
  });

  test('an end wins over every other event, older or newer', () => {
    const ended = { id: 'evt_a', number: 1, created: 5, object: { ...active, status: 'canceled' }, previous: null };
    const newer = { id: 'evt_b', number: 2, created: 9, object: active, previous: null };
    expect(project([newer, ended])).toMatchObject({ certain: true, state: { status: 'canceled' } });
  });
});

test('the projection is null without events, and of unreadable ones', () => {
  expect(project([])).toBeNull();
  expect(project([{ id: 'evt_1', number: 1, created: 1, object: {}, previous: null }])).toBeNull();
});

const due = new Date(50_000);
const state = (status: string) => ({ id: 'sub_1', status, statusClass: statusClassOf(status) }) as SubscriptionState;
const answered = (status: string, number: number, pastDueSince: Date | null = null) => ({
  state: state(status),
  number,
  pastDueSince,
  pastDueNumber: pastDueSince === null ? null : 3,
});
const shownByEvents = (status: string, number: number, pastDueSince: number | null = null, brokenNumber = 0) => ({
  state: state(status),
  number,
  certain: true,
  pastDueSince,
  brokenNumber,
});

test.each([
  ['the answer wins if no event was stored since', answered('active', 5), shownByEvents('past_due', 5), 'active'],
  ['an event stored since then wins', answered('active', 5), shownByEvents('past_due', 6), 'past_due'],
  ['an end in the answer wins over a later event', answered('canceled', 5), shownByEvents('active', 6), 'canceled'],
  ['an end in an event wins over a later answer', answered('active', 9), shownByEvents('canceled', 6), 'canceled'],
  ['a late event does not undo the first payment', answered('active', 5), shownByEvents('incomplete', 6), 'active'],
  [
    'an event may show a first payment that is still open',
    answered('incomplete', 5),
    shownByEvents('incomplete', 6),
    'incomplete',
  ],
  ['an answer alone', answered('active', 0), null, 'active'],
  ['events alone', null, shownByEvents('active', 1), 'active'],
])('%s', (_, snapshot, projection, status) => {
  expect(decide(snapshot, projection)?.state.status).toBe(status);
});

test('past due begins with the first event, else with the first past-due answer', () => {
  expect(decide(answered('past_due', 5, due), shownByEvents('past_due', 4, 20))?.pastDueSince).toEqual(
    new Date(20_000),
  );
  expect(decide(answered('past_due', 5, due), shownByEvents('active', 4))?.pastDueSince).toEqual(due);
  expect(decide(answered('active', 5), shownByEvents('past_due', 4, 20))?.pastDueSince).toBeNull();
});

test.each([
  ['a later event continues the run that an answer showed first, because its first event was lost', 3, 90, due],
  ['a delayed event shows that the run began before the answer', 3, 20, new Date(20_000)],
  ['a later event begins a run if a recovery was stored since the answer', 4, 90, new Date(90_000)],
])('%s', (_, brokenNumber, created, since) => {
  for (const snapshot of [answered('past_due', 5, due), answered('past_due', 9, due)]) {
    expect(decide(snapshot, shownByEvents('past_due', 7, created, brokenNumber))?.pastDueSince).toEqual(since);
  }
});

test('an answer that an earlier release stored does not move the start of a run', () => {
  const snapshot = { ...answered('past_due', 5, due), pastDueNumber: null };
  expect(decide(snapshot, shownByEvents('past_due', 7, 90, 3))?.pastDueSince).toEqual(new Date(90_000));
});

test('an answer that wins over a later event is uncertain', () => {
  expect(decide(answered('active', 5), shownByEvents('incomplete', 6))?.certain).toBe(false);
  expect(decide(answered('active', 5), shownByEvents('incomplete', 5))?.certain).toBe(true);
});

test('without an answer and events there is no decision', () => {
  expect(decide(null, null)).toBeNull();
});
