import type Stripe from 'stripe';
import { missing, ParameterError } from './api-error.ts';

interface Listed {
  id: string;
  created: number;
}

interface PageParameters {
  limit?: number;
  starting_after?: string;
  ending_before?: string;
}

/**
 * Returns a page of records, newest first, from the cursors of the SDK's pagination.
 *
 * @throws ApiError if the limit is not between 1 and 100, or a cursor names no record.
 */
export function listPage<T extends { id: string }>(
  url: string,
  oldestFirst: T[],
  params: PageParameters,
  kind: string,
): Stripe.ApiList<T> {
  const limit = params.limit ?? 10;
  if (limit < 1 || limit > 100) {
    throw new ParameterError(400, 'Invalid integer: limit must be between 1 and 100', {
      code: 'parameter_invalid_integer',
      param: 'limit',
    });
  }
  const newestFirst = oldestFirst.toReversed();
  if (params.ending_before !== undefined) {
    const end = indexOf(newestFirst, params.ending_before, kind, 'ending_before');
    const data = newestFirst.slice(Math.max(0, end - limit), end);
    return { object: 'list', data, has_more: end > limit, url };
  }
  const start =
    params.starting_after === undefined ? 0 : indexOf(newestFirst, params.starting_after, kind, 'starting_after') + 1;
  const data = newestFirst.slice(start, start + limit);
  return { object: 'list', data, has_more: newestFirst.length > start + limit, url };
}

function indexOf(records: { id: string }[], id: string, kind: string, param: string): number {
  const index = records.findIndex((record) => record.id === id);
  if (index < 0) throw missing(kind, id, param);
  return index;
}

/** Whether a time lies in the range of a list's filter. Without a filter it always does. */
export function inRange(value: number | null | undefined, range: number | Stripe.RangeQueryParam | undefined): boolean {
  if (range === undefined) return true;
  if (value === null || value === undefined) return false;
  if (typeof range === 'number') return value === range;
  return (
    (range.gt === undefined || value > range.gt) &&
    (range.gte === undefined || value >= range.gte) &&
    (range.lt === undefined || value < range.lt) &&
    (range.lte === undefined || value <= range.lte)
  );
}

/** Whether a record was created in the range of a list's filter. */
export function createdIn(record: Listed, range: number | Stripe.RangeQueryParam | undefined): boolean {
  return inRange(record.created, range);
}
