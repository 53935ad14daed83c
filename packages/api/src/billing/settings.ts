import { eq } from 'drizzle-orm';
import type { Executor } from '../platform/db/client.ts';
import { paymentSettings } from '../platform/db/schema/billing.ts';

/** Returns what is stored under a name; null if nothing is. */
export async function readSetting(db: Executor, name: string): Promise<string | null> {
  const [row] = await db.select().from(paymentSettings).where(eq(paymentSettings.name, name));
  return row?.value ?? null;
}

/** Stores a value under a name, in place of an earlier one. */
export async function saveSetting(db: Executor, name: string, value: string): Promise<void> {
  await db
    .insert(paymentSettings)
    .values({ name, value })
    .onConflictDoUpdate({ target: paymentSettings.name, set: { value } });
}
