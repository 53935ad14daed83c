import { describe, expect, test } from 'vitest';
import { project, type StateEvent } from './projection.ts';

function eventOf(number: number, created: number, status: string, before: string | null = null): StateEvent {
  const object = { id: 'sub_1', customer: 'cus_1', status };
  return { id: `evt_${number}`, number, created, object, previous: before === null ? null : { status: before } };
}

test('a run of failed payments begins after the provider’s answer that nothing was due', () => {
  // The event of the recovery in between was lost; a fetch after event 2 showed it.
  const events = [eventOf(1, 10, 'active'), eventOf(2, 20, 'past_due'), eventOf(3, 900, 'past_due')];
  expect(project(events, 0)?.pastDueSince).toBe(20);
  expect(project(events, 2)?.pastDueSince).toBe(900);
});

describe('the event that changed the status to past due begins its run', () => {
  test('also if an event of an earlier run arrives later, and no event of the recovery', () => {
    const late = eventOf(3, 20, 'past_due', 'active');
    const events = [eventOf(1, 10, 'active'), eventOf(2, 900, 'past_due', 'active'), late];
    expect(project(events)).toMatchObject({ pastDueSince: 900, brokenNumber: 2 });
    expect(project([...events, eventOf(4, 950, 'past_due')])).toMatchObject({ pastDueSince: 900, brokenNumber: 2 });
  });

  test('but not if an event of another status in the same second may be later', () => {
    const second = [eventOf(1, 10, 'past_due', 'active'), eventOf(2, 10, 'unpaid', 'past_due')];
    expect(project([...second, eventOf(3, 50, 'past_due')])?.pastDueSince).toBe(50);
  });
});
