import { type Fields, fields } from './fields.ts';

/**
 * The object as it was before a change. `previous_attributes` holds of a hash only its
 * changed members (null where one was absent) and of an array all of it: so a hash is
 * undone member by member, everything else is replaced.
 */
export function undo(after: Fields, previous: Fields): Fields {
  const before = { ...after };
  for (const [name, value] of Object.entries(previous)) {
    const now = fields(after[name]);
    const then = fields(value);
    before[name] = now !== null && then !== null ? undo(now, then) : value;
  }
  return before;
}

/** One text for all objects that say the same: members in order, null equal to absent. */
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
