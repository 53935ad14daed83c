import { timestamp } from 'drizzle-orm/pg-core';

/** A column for a point in time, with time zone. */
export function moment(name: string) {
  return timestamp(name, { withTimezone: true });
}
