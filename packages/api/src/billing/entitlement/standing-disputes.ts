import { and, eq, gte, inArray, lt, or } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { paymentDisputes as dispute } from '../../platform/db/schema/billing.ts';
import { openDisputes } from '../../platform/providers/payment/disputes.ts';

/**
 * Returns whether a dispute stands against a subscription: an open one, or one that was lost and of which no later
 * invoice is paid. `paidInvoiceAt` is the second in which its newest invoice was created, if that is paid: it is stored,
 * so that the next invoice, while it is open, brings no old dispute back.
 */
export async function hasStandingDispute(
  tx: Transaction,
  subscriptionId: string,
  paidInvoiceAt: number | null,
): Promise<boolean> {
  const stands = or(
    inArray(dispute.status, openDisputes),
    and(eq(dispute.status, 'lost'), eq(dispute.paidSince, false)),
  );
  const standing = and(eq(dispute.subscriptionId, subscriptionId), stands);
  if ((await tx.$count(dispute, standing)) === 0) return false;
  if (paidInvoiceAt === null) return true;

  await tx
    .update(dispute)
    .set({ paidSince: true })
    .where(and(eq(dispute.subscriptionId, subscriptionId), lt(dispute.invoicedAt, paidInvoiceAt)));
  return (await tx.$count(dispute, standing)) > 0;
}

/**
 * Returns whether a lost dispute alone takes a subscription's plan, so that it comes back only with a later invoice. While
 * another dispute is open, its end is not known. `paidInvoiceAt` as for `hasStandingDispute`, which may not have stored it.
 */
export async function isLostToDispute(
  { db, config }: App,
  subscriptionId: string,
  paidInvoiceAt: number | null,
): Promise<boolean> {
  if (config.disputes !== 'end') return false;
  const own = eq(dispute.subscriptionId, subscriptionId);
  const stands = and(eq(dispute.status, 'lost'), eq(dispute.paidSince, false));
  const lost = and(own, stands, gte(dispute.invoicedAt, paidInvoiceAt ?? 0));
  if ((await db.$count(dispute, lost)) === 0) return false;
  return (await db.$count(dispute, and(own, inArray(dispute.status, openDisputes)))) === 0;
}
