import { timestamp } from 'drizzle-orm/pg-core';

/** A point in time, with its zone. */
export function moment(name: string) {
  return timestamp(name, { withTimezone: true });
}
