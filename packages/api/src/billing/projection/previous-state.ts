import { type Fields, fields } from '../../platform/providers/untrusted-json.ts';

/**
 * Computes the object before a change. The provider's `previous_attributes` hold only the changed
 * members of a hash (null for an absent one) but the whole of an array. So a hash is undone
 * member by member, and every other value is replaced.
 */
export function objectBefore(after: Fields, previous: Fields): Fields {
  const before = { ...after };
  for (const [name, value] of Object.entries(previous)) {
    const now = fields(after[name]);
    const then = fields(value);
    before[name] = now !== null && then !== null ? objectBefore(now, then) : value;
  }
  return before;
}

/** Returns the same text for all equal objects: members are sorted, and null equals absent. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const object = fields(value);
  if (object === null) return JSON.stringify(value) ?? 'null';

  const members = Object.keys(object)
    .filter((name) => object[name] !== null && object[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(object[name])}`);
  return `{${members.join()}}`;
}
