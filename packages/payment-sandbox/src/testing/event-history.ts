import { expect } from 'vitest';
import { isObject } from '../provider/json.ts';
import type { ProviderEvent } from '../provider/records.ts';

/** Expects that undoing the `previous_attributes` of each event gives the subscription that the event before it showed. */
export function expectUnbrokenHistory(events: ProviderEvent[]): void {
  const last = new Map<string, object>();
  let created = 0;
  for (const event of events) {
    const object = event.data.object as { id: string; object: string; test_clock?: string | null };
    if (object.object !== 'subscription') continue;
    const before = last.get(object.id);
    const previous = event.data.previous_attributes;
    if (before && previous) expect(undo(object, previous), event.type).toEqual(normal(before));
    if (event.type === 'customer.subscription.updated') expect(previous).toBeDefined();
    if (!object.test_clock) {
      expect(event.created).toBeGreaterThanOrEqual(created);
      created = event.created;
    }
    last.set(object.id, object);
  }
}

function undo(after: object, previous: object): object {
  const undone: Record<string, unknown> = { ...after };
  for (const [name, value] of Object.entries(previous)) {
    const current = undone[name];
    undone[name] = isObject(value) && isObject(current) ? undo(current, value) : value;
  }
  return normal(undone);
}

/** Removes members that are null: null counts as absent. */
function normal(object: object): object {
  return JSON.parse(JSON.stringify(object), (_, value) => (value === null ? undefined : value));
}
