import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { objectBefore } from '../../platform/providers/payment/event.ts';
import { readSubscriptionState } from '../../platform/providers/payment/subscription-state.ts';
import { history, type StateEvent } from '../../testing/payment/random-history.ts';
import { matchTier } from './match-tier.ts';
import { afterAnswer, afterEvent, columnsOf, type ShownState, type SubscriptionRow } from './newer-state.ts';

const sold = ['silver', 'gold'].map((tier) => ({ tier, name: `${tier}_monthly` }));

function columns(object: object) {
  const state = readSubscriptionState({ id: 'sub_1', customer: 'cus_1', ...object });
  if (state === null) throw new Error('The state cannot be read.');
  return columnsOf(state, matchTier(state, [], sold));
}

function shown({ created, object, previous }: StateEvent): ShownState {
  const before = previous === null ? null : columns(objectBefore(object, previous));
  return { created, after: columns(object), before };
}

/** Returns the row after some events, in the order of their arrival. */
function rowAfter(events: ShownState[]): SubscriptionRow | null {
  let row: SubscriptionRow | null = null;
  for (const event of events) {
    const written = afterEvent(row, event);
    if (written !== null) row = Object.assign({}, row, written);
  }
  return row;
}

const arrivals = (events: StateEvent[]) =>
  fc.tuple(fc.shuffledSubarray(events, { minLength: events.length }), fc.subarray(events)).map((both) => both.flat());

describe('after all events of a history whose seconds differ, in any order and with duplicates', () => {
  const distinct = history.map(({ events, lastObject }) => {
    // Of two events of one change the second is left out: it has the second of the first.
    const spread = events.map((event, at) => ({ ...event, created: 1000 + at }));
    return { events: spread, lastObject };
  });

  test('the row shows the last state', () => {
    fc.assert(
      fc.property(
        distinct.chain(({ events, lastObject }) =>
          fc.record({ lastObject: fc.constant(lastObject), arriving: arrivals(events) }),
        ),
        ({ lastObject, arriving }) => {
          expect(rowAfter(arriving.map(shown))).toMatchObject(columns(lastObject));
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('its grace begins with a failure, and not before the last recovery', () => {
    fc.assert(
      fc.property(
        distinct.chain(({ events }) => fc.record({ events: fc.constant(events), arriving: arrivals(events) })),
        ({ events, arriving }) => {
          const since = rowAfter(arriving.map(shown))?.pastDueSince ?? null;
          const last = events.at(-1);
          if (last?.object.status !== 'past_due') {
            expect(since).toBeNull();
            return;
          }
          const recovered = events.filter(({ object }) => object.status !== 'past_due').at(-1)?.created ?? 0;
          expect(since?.getTime()).toBeGreaterThan(recovered * 1000);
          expect(since?.getTime()).toBeLessThanOrEqual(last.created * 1000);
        },
      ),
      { numRuns: 3000 },
    );
  });
});

const event = (status: string, created: number, before: string | null = null): ShownState => ({
  created,
  after: columns({ status }),
  before: before === null ? null : columns({ status: before }),
});
const at = (second: number) => new Date(second * 1000);

describe('within one second', () => {
  test.each<[string, ShownState[], string]>([
    [
      'the event that begins where the stored one ended is later',
      [event('active', 5, 'incomplete'), event('paused', 5, 'active')],
      'paused',
    ],
    [
      'the event that ended where the stored one began is earlier',
      [event('paused', 5, 'active'), event('active', 5, 'incomplete')],
      'paused',
    ],
    ['a first state replaces no other one', [event('active', 5), event('incomplete', 5)], 'active'],
    ['what shows no order is written', [event('active', 5), event('paused', 5)], 'paused'],
  ])('%s', (_, events, status) => {
    expect(rowAfter(events)?.status).toBe(status);
  });

  test('an event replaces the answer of the provider', () => {
    const answered = { ...rowAfter([event('active', 5)]), ...afterAnswer(null, columns({ status: 'active' }), 9) };
    expect(afterEvent(answered as SubscriptionRow, event('paused', 9))?.status).toBe('paused');
    expect(afterEvent(answered as SubscriptionRow, event('paused', 8))).toBeNull();
  });
});

describe('a final status', () => {
  test('replaces a state of any age, and is replaced by none', () => {
    expect(rowAfter([event('active', 9), event('canceled', 5)])).toMatchObject({ status: 'canceled', stateAt: 9 });
    expect(rowAfter([event('canceled', 5), event('active', 9)])?.status).toBe('canceled');
    const ended = rowAfter([event('canceled', 5)]);
    expect(afterAnswer(ended, columns({ status: 'active' }), 9)).toBeNull();
  });

  test('that the provider has not shown is replaced by what it shows', () => {
    const ended = { ...rowAfter([event('canceled', 5)]), stateAt: null } as SubscriptionRow;
    expect(afterEvent(ended, event('active', 4))?.status).toBe('active');
    expect(afterAnswer(ended, columns({ status: 'active' }), 4)?.status).toBe('active');
  });
});

describe('the grace', () => {
  test.each<[string, ShownState[], number | null]>([
    ['begins with the event that moves the row to past due', [event('active', 1), event('past_due', 5)], 5],
    ['goes on while the row stays past due', [event('past_due', 5), event('past_due', 7)], 5],
    [
      'begins anew where an event shows that it came from another status',
      [event('past_due', 5), event('past_due', 9, 'active')],
      9,
    ],
    ['ends with another status', [event('past_due', 5), event('unpaid', 7)], null],
    [
      'moves to the state of the row where a late event shows a recovery',
      [event('past_due', 5), event('past_due', 9), event('active', 7)],
      9,
    ],
    [
      'moves to the state of the row where a late event shows that another status was before it',
      [event('past_due', 5), event('past_due', 9), event('past_due', 7, 'active')],
      9,
    ],
    [
      'stays where a late event shows past due alone',
      [event('past_due', 5), event('past_due', 9), event('past_due', 7)],
      5,
    ],
    [
      'stays where a late event is older than its start',
      [event('past_due', 5), event('past_due', 9), event('active', 4)],
      5,
    ],
  ])('%s', (_, events, since) => {
    expect(rowAfter(events)?.pastDueSince ?? null).toEqual(since === null ? null : at(since));
  });

  test('begins with the answer that first shows past due, and goes on by later answers', () => {
    const failed = afterAnswer(rowAfter([event('active', 1)]), columns({ status: 'past_due' }), 5);
    expect(failed?.pastDueSince).toEqual(at(5));
    expect(afterAnswer(failed as SubscriptionRow, columns({ status: 'past_due' }), 9)?.pastDueSince).toEqual(at(5));
  });
});
