import { eq, isNull, or, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { App } from '../../app.ts';

/**
 * Returns whether a row is valid under our key. Rows of the other mode are not. A row of
 * unknown mode is valid, because a plan must not end for lack of information. Without a key
 * there is no mode, and every row is valid.
 */
export function isOfOurMode({ payment }: Pick<App, 'payment'>, livemode: boolean | null): boolean {
  return payment === null || livemode === null || livemode === payment.livemode;
}

/** The rule of `isOfOurMode` as a condition on the column that holds the mode. */
export function ofOurMode({ payment }: Pick<App, 'payment'>, livemode: PgColumn): SQL | undefined {
  return payment === null ? undefined : or(isNull(livemode), eq(livemode, payment.livemode));
}
