import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Operator } from '../../auth/principal.ts';
import { reconcileAll } from '../../billing/sync/reconcile.ts';
import type { Report } from '../../billing/sync/report.ts';
import type { Client } from '../../platform/security/client.ts';

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
