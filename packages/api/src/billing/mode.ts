import type { App } from '../app.ts';
import { paymentSettings } from '../platform/db/schema/billing.ts';
import { readSetting } from './settings.ts';

/** The payment provider keeps test and live objects apart: a key sees those of its own mode alone. */
export type Mode = 'test' | 'live';

const modeSetting = 'mode';

/** Returns the mode that the database belongs to; null before the first start with a key. */
export async function storedMode({ db }: Pick<App, 'db'>): Promise<Mode | null> {
  return (await readSetting(db, modeSetting)) as Mode | null;
}

/**
 * Makes the database one of the key's mode if it has none yet. Without a key nothing happens. A key of the other
 * mode would not find the customers and subscriptions that are stored, and would make a second one of each.
 *
 * @throws Error whose message is a sentence, if the database belongs to the other mode.
 */
export async function claimMode(app: Pick<App, 'db' | 'payment'>): Promise<void> {
  if (app.payment === null) return;
  const { mode } = app.payment;
  await app.db.insert(paymentSettings).values({ name: modeSetting, value: mode }).onConflictDoNothing();
  const stored = await storedMode(app);
  if (stored !== null && stored !== mode) throw new Error(describeOtherMode(stored, mode));
}

/** Says why a key of the other mode cannot be used, and what to do. */
export function describeOtherMode(stored: Mode, given: Mode): string {
  return `PAYMENT_SECRET_KEY is of ${given} mode, and this database holds customers of ${stored} mode: set the ${stored} key, or run the admin command forget-payments first.`;
}
