import { expect, test } from 'vitest';
import { decide } from './recompute.ts';
import type { SubscriptionState } from './subscription-state.ts';

const due = new Date(50_000);
const state = (status: string) => ({ id: 'sub_1', status }) as SubscriptionState;
const asked = (status: string, number: number, pastDueSince: Date | null = null) => ({
  state: state(status),
  number,
  pastDueSince,
});
const told = (status: string, number: number, pastDueSince: number | null = null) => ({
  state: state(status),
  number,
  certain: true,
  pastDueSince,
});

test.each([
  ['the answer wins if no event was stored since', asked('active', 5), told('past_due', 5), 'active'],
  ['an event stored since then wins', asked('active', 5), told('past_due', 6), 'past_due'],
  ['an end in the answer wins over a later event', asked('canceled', 5), told('active', 6), 'canceled'],
  ['an end in an event wins over a later answer', asked('active', 9), told('canceled', 6), 'canceled'],
  ['a late event does not undo the first payment', asked('active', 5), told('incomplete', 6), 'active'],
  ['an event may show a first payment that is still open', asked('incomplete', 5), told('incomplete', 6), 'incomplete'],
  ['an answer alone', asked('active', 0), null, 'active'],
  ['events alone', null, told('active', 1), 'active'],
])('%s', (_, snapshot, projection, status) => {
  expect(decide(snapshot, projection)?.state.status).toBe(status);
});

test('past due begins with the first event, else with the first past-due answer', () => {
  expect(decide(asked('past_due', 5, due), told('past_due', 4, 20))?.pastDueSince).toEqual(new Date(20_000));
  expect(decide(asked('past_due', 5, due), told('active', 4))?.pastDueSince).toEqual(due);
  expect(decide(asked('active', 5), told('past_due', 4, 20))?.pastDueSince).toBeNull();
});

test('an answer that wins over a later event is uncertain', () => {
  expect(decide(asked('active', 5), told('incomplete', 6))?.certain).toBe(false);
  expect(decide(asked('active', 5), told('incomplete', 5))?.certain).toBe(true);
});

test('without an answer and events there is no decision', () => {
  expect(decide(null, null)).toBeNull();
});
