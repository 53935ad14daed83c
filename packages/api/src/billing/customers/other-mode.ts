import { and, eq, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentCustomers, paymentSubscriptions } from '../../platform/db/schema/billing.ts';

type OtherMode = { mode: 'live' | 'test'; customers: number; subscriptions: number };

/**
 * Counts the customers and the subscriptions that have not ended, of the mode that is not our key's.
 * They give no plan. Returns null if there are none, and without a key.
 */
export async function readOtherMode({ db, payment }: App): Promise<OtherMode | null> {
  if (payment === null) return null;
  const other = !payment.livemode;
  const customers = await db.$count(
    paymentCustomers,
    and(eq(paymentCustomers.livemode, other), isNull(paymentCustomers.goneAt)),
  );
  const subscriptions = await db.$count(
    paymentSubscriptions,
    and(eq(paymentSubscriptions.livemode, other), eq(paymentSubscriptions.ended, false)),
  );
  return customers + subscriptions === 0 ? null : { mode: other ? 'live' : 'test', customers, subscriptions };
}

/** Describes the finding in a sentence, with a remedy. */
export function describeOtherMode({ mode, customers, subscriptions }: OtherMode): string {
  const remedy =
    mode === 'live'
      ? 'Their plans are not in effect. Unless this is a copy for tests, set PAYMENT_SECRET_KEY to the live key.'
      : 'They are ignored. That is right after tests, and wrong if this deployment should use the test key.';
  return `The database holds ${customers} customers and ${subscriptions} running subscriptions of ${mode} mode, and PAYMENT_SECRET_KEY is of the other one. ${remedy}`;
}

/** Logs a warning if there are rows of the other mode. */
export async function warnOfOtherMode(app: App): Promise<void> {
  const found = await readOtherMode(app);
  if (found !== null) app.log.warn(describeOtherMode(found), { key: app.payment?.key });
}
