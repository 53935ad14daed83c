import { isObject } from '../provider/json.ts';

/**
 * Computes `previous_attributes`: of an object only the members that changed (null for one that
 * was absent), of an array the whole array.
 */
export function previousAttributes(before: object, after: object): Record<string, unknown> {
  const was = before as Record<string, unknown>;
  const is = after as Record<string, unknown>;
  const changed: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    if (same(was[name], is[name])) continue;
    changed[name] =
      isObject(was[name]) && isObject(is[name]) ? previousAttributes(was[name], is[name]) : (was[name] ?? null);
  }
  return changed;
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
