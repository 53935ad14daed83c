import { eq, isNull, or, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { App } from '../../app.ts';

/**
 * Whether a row counts under our key. Rows of the provider's other mode do not. One whose
 * mode the provider has not told yet does: nothing may end because of what we do not know.
 * Without a key there is no mode, and every row counts.
 */
export function isOfOurMode({ payment }: Pick<App, 'payment'>, livemode: boolean | null): boolean {
  return payment === null || livemode === null || livemode === payment.livemode;
}

/** The same as a condition on the column that holds the mode. */
export function ofOurMode({ payment }: Pick<App, 'payment'>, livemode: PgColumn): SQL | undefined {
  return payment === null ? undefined : or(isNull(livemode), eq(livemode, payment.livemode));
}
