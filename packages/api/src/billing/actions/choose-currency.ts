import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Administrator } from '../../auth/principal.ts';
import { requireSameOrganisationIfNamed } from '../../auth/sessions/require-same-organisation.ts';
import { lockOrganisation } from '../../organisations/organisation.ts';
import { paymentCustomers } from '../../platform/db/schema/billing.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { leaseOf } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { readCurrency } from '../prices/currency.ts';
import { closeCheckouts, paymentUnderWay } from './checkouts.ts';
import { type BillingApp, takeBillingAction } from './require-payment.ts';

/**
 * Chooses the currency in which the organisation pays. Its open checkouts are closed, because a payment in the earlier
 * currency would fix that one. Repeating it changes nothing.
 *
 * @throws AppError VALIDATION if the plans have no such currency; NOT_FOUND if the page was another organisation's;
 *   NO_ORGANISATION; TOO_MANY; CONFLICT once a subscription has fixed another one; BUSY, also while a checkout is being
 *   paid; PROVIDER_UNAVAILABLE.
 */
export async function chooseCurrency(
  app: BillingApp,
  principal: Administrator,
  input: { currency?: unknown; organisation_id?: unknown },
): Promise<{ currency: string }> {
  const currency = readWanted(app, input.currency);
  const organisationId = requireSameOrganisationIfNamed(principal, input.organisation_id).id;
  await takeBillingAction(app, principal, organisationId);

  await withLease(
    app,
    leaseOf(organisationId),
    async (ask) => {
      const now = await readCurrency(app, organisationId);
      if (now.currency === currency && now.isOwn) return;
      requireFree(now);
      if (!(await closeCheckouts(app, ask, organisationId))) throw paymentUnderWay();

      await app.db.transaction(async (tx) => {
        await lockOrganisation(tx, organisationId);
        // An event may have stored a first subscription meanwhile.
        requireFree(await readCurrency(app, organisationId, tx));
        await tx
          .insert(paymentCustomers)
          .values({ organisationId, createdAt: app.now(), currency })
          .onConflictDoUpdate({ target: paymentCustomers.organisationId, set: { currency } });
        const details = { currency: currency.toUpperCase() };
        const actorId = principal.user.id;
        await recordAudit(tx, app.now(), { action: 'plan-currency', actorId, organisationId, details });
      });
    },
    'action',
  );
  return { currency };
}

function readWanted({ plans: { currencies } }: App, value: unknown): string {
  const wanted = typeof value === 'string' ? value.trim().toLowerCase() : '';
  const currency = currencies.find((each) => each === wanted);
  if (currency !== undefined) return currency;
  const names = currencies.map((each) => each.toUpperCase());
  throw invalid({ currency: message('choose_currency', { currencies: { any: names } }) });
}

function requireFree({ isFixed, currency }: { isFixed: boolean; currency: string }): void {
  if (isFixed) throw new AppError('CONFLICT', message('currency_fixed', { currency: currency.toUpperCase() }));
}
