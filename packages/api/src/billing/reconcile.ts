import { eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import { paymentSubscriptions } from '../db/schema.ts';
import { applyUndelivered } from './apply-undelivered.ts';
import { compareAll } from './compare-all.ts';
import { linesOf, type Report } from './report.ts';
import { syncSubscription } from './sync.ts';

/** Reconciles, and says what was found in lines for a person. */
export async function reconcile(app: App): Promise<string> {
  return linesOf(await reconcileAll(app)).join('\n');
}

/**
 * Everything that the jobs do bit by bit, at once: applies the undelivered events, syncs
 * the rows that need it and compares all subscriptions. Harmless at any time, and done
 * when it returns.
 *
 * @throws Refusal BILLING_UNAVAILABLE, PROVIDER_UNAVAILABLE.
 */
export async function reconcileAll(app: App): Promise<Report> {
  await applyUndelivered(app);

  const due = await app.db
    .select({ id: paymentSubscriptions.id })
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.needsSync, true));
  for (const { id } of due) await syncSubscription(app, id);

  return compareAll(app);
}
