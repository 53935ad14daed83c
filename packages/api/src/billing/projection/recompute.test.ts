import { expect, test } from 'vitest';
import { decide } from './recompute.ts';
import type { SubscriptionState } from './subscription-state.ts';

const due = new Date(50_000);
const state = (status: string) => ({ id: 'sub_1', status }) as SubscriptionState;
const answered = (status: string, number: number, pastDueSince: Date | null = null) => ({
  state: state(status),
  number,
  pastDueSince,
});
const shownByEvents = (status: string, number: number, pastDueSince: number | null = null) => ({
  state: state(status),
  number,
  certain: true,
  pastDueSince,
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

test('an answer that wins over a later event is uncertain', () => {
  expect(decide(answered('active', 5), shownByEvents('incomplete', 6))?.certain).toBe(false);
  expect(decide(answered('active', 5), shownByEvents('incomplete', 5))?.certain).toBe(true);
});

test('without an answer and events there is no decision', () => {
  expect(decide(null, null)).toBeNull();
});
