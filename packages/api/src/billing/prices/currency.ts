import { eq, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Executor } from '../../platform/db/client.ts';
import { paymentCustomers, paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';

/** The currency in which an organisation pays. */
export type OrganisationCurrency = {
  currency: string;
  /** Whether it is the organisation's own: chosen, or that of its subscription. Otherwise it is the deployment's. */
  isOwn: boolean;
  /** Whether a subscription has fixed it. */
  isFixed: boolean;
};

/**
 * Reads the currency in which an organisation pays: that of its newest subscription, which fixed it, also where the
 * plans no longer have it; else the one that an administrator chose among those of the plans; else the first of them.
 */
export async function readCurrency(
  app: App,
  organisationId: string,
  db: Executor = app.db,
): Promise<OrganisationCurrency> {
  const [row] = await db
    .select({ fixed: fixedCurrency(sql`${organisationId}`), chosen: paymentCustomers.currency })
    .from(sql`(select 1) as one`)
    .leftJoin(paymentCustomers, eq(paymentCustomers.organisationId, organisationId));
  return currencyOf(app, { fixed: row?.fixed ?? null, chosen: row?.chosen ?? null });
}

/** Selects the currency of an organisation's newest subscription, a live one first. One that was never paid fixes none. */
export function fixedCurrency(organisationId: unknown): SQL<string | null> {
  return sql<string | null>`(select fixed.currency from ${subscription} as fixed
    where fixed.organisation_id = ${organisationId} and fixed.currency is not null
      and fixed.status <> 'incomplete_expired'
    order by fixed.ended, fixed.started_at desc, fixed.id desc limit 1)`;
}

/** As `readCurrency`, of what is stored. A choice that the plans no longer have counts no more. */
export function currencyOf(
  { plans: { currencies } }: App,
  { fixed, chosen }: { fixed: string | null; chosen: string | null },
): OrganisationCurrency {
  if (fixed !== null) return { currency: fixed, isOwn: true, isFixed: true };
  const own = currencies.find((each) => each === chosen);
  return { currency: own ?? currencies[0] ?? 'gbp', isOwn: own !== undefined, isFixed: false };
}
