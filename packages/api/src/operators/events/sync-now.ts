import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Operator } from '../../auth/principal.ts';
import { requirePayment } from '../../billing/actions/require-payment.ts';
import { reconcileAll } from '../../billing/sync/reconcile.ts';
import type { Report } from '../../billing/sync/report.ts';
import { syncSubscription } from '../../billing/sync/sync.ts';
import { paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { AppError } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import { storableText } from '../../platform/security/text.ts';
import { shownSubscription, subscriptionColumns } from './shown-subscription.ts';

export const syncInput = z.object({ subscription_id: storableText('Say which subscription.') });

/**
 * Syncs a subscription with the provider, and returns its record.
 *
 * @throws AppError BILLING_UNAVAILABLE; NOT_FOUND if there is no such subscription; PROVIDER_UNAVAILABLE; BUSY.
 */
export async function syncNow(
  app: App,
  principal: Operator,
  { subscription_id: id }: z.output<typeof syncInput>,
  client: Client,
) {
  const { user } = principal;
  requirePayment(app);
  const organisationId = await ownerOf(app, id);

  await syncSubscription(app, id);
  await recordAudit(app.db, app.now(), {
    action: 'subscription-synced',
    actorId: user.id,
    client,
    organisationId,
    details: { subscription: id },
  });

  const [row] = await app.db.select(subscriptionColumns).from(subscription).where(eq(subscription.id, id));
  return { row: row === undefined ? null : shownSubscription(app, row) };
}

async function ownerOf(app: App, id: string): Promise<string> {
  const [row] = await app.db
    .select({ organisationId: subscription.organisationId })
    .from(subscription)
    .where(eq(subscription.id, id));
  if (row === undefined) throw new AppError('NOT_FOUND', 'There is no such subscription here.');
  return row.organisationId;
}

/**
 * Runs the reconciliation at once: applies undelivered events, and compares every subscription
 * with the provider's, a hundred per request. Returns the findings.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE.
 */
export async function compareNow(app: App, principal: Operator, client: Client): Promise<Report> {
  const { user } = principal;

  const report = await reconcileAll(app);
  await recordAudit(app.db, app.now(), { action: 'billing-reconciled', actorId: user.id, client });
  return report;
}
