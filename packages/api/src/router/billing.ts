import { chooseCurrency } from '../billing/actions/choose-currency.ts';
import { confirmPayment } from '../billing/actions/confirm-payment.ts';
import { estimateChange } from '../billing/actions/estimate-change.ts';
import { openPortal } from '../billing/actions/open-portal.ts';
import { requireBilling } from '../billing/actions/require-payment.ts';
import { setCancellation } from '../billing/actions/set-cancellation.ts';
import { startCheckout } from '../billing/actions/start-checkout.ts';
import { readInvoices } from '../billing/invoices/read-invoices.ts';
import {
  checkEntitlement,
  entitlementInput,
  entitlementsInput,
  readEntitlements,
} from '../billing/summary/read-entitlements.ts';
import { readOverview, readOverviewWithHistory } from '../billing/summary/read-overview.ts';
import { readSubscription } from '../billing/summary/read-subscription.ts';
import { isAppError } from '../platform/errors.ts';
import { body } from './body.ts';
import { anyPrincipalProcedure, calls, router, scopedProcedure } from './trpc.ts';

/**
 * Open to administrators of a deployment where billing is on. Both are checked before the body.
 *
 * @throws AppError UNAUTHENTICATED, AWAITING_APPROVAL, FORBIDDEN or BILLING_UNAVAILABLE, in this order.
 */
const billingProcedure = scopedProcedure('ADMIN').use(({ ctx, next }) =>
  next({ ctx: { app: requireBilling(ctx.app) } }),
);

export const billingRouter = router({
  checkout: billingProcedure.input(checkoutBody).mutation(calls(startCheckout)),
  portal: billingProcedure
    .input(portalBody)
    .mutation(({ ctx, input }) => openPortal(ctx.app, ctx.principal, { ...input })),
  cancel: billingProcedure
    .input(organisationBody)
    .mutation(({ ctx, input }) => setCancellation(ctx.app, ctx.principal, { ...input, cancel: true })),
  resume: billingProcedure
    .input(organisationBody)
    .mutation(({ ctx, input }) => setCancellation(ctx.app, ctx.principal, { ...input, cancel: false })),
  estimate: billingProcedure.input(checkoutBody).query(calls(estimateChange)),
  invoices: billingProcedure.query(({ ctx }) => readInvoices(ctx.app, ctx.principal)),
  currency: billingProcedure.input(currencyBody).mutation(calls(chooseCurrency)),
  confirm: scopedProcedure('READ')
    .input(noBody)
    .mutation(({ ctx }) => confirmPayment(ctx.app, ctx.principal)),
});

/** Accepts any JSON: the use case has the interface's sentence for a tier of any type, or none. */
function checkoutBody(input: unknown): { tier?: unknown; interval?: unknown; organisation_id?: unknown } {
  const { tier, interval } = membersOf(input);
  return { ...organisationBody(input), tier, interval };
}

/** As checkoutBody, for the currency. */
function currencyBody(input: unknown): { currency?: unknown; organisation_id?: unknown } {
  return { ...organisationBody(input), currency: membersOf(input).currency };
}

function portalBody(input: unknown): { organisation_id?: unknown; page?: unknown } | undefined {
  return { ...organisationBody(input), page: membersOf(input).page };
}

function organisationBody(input: unknown): { organisation_id?: unknown } | undefined {
  if (isAppError(input)) throw input;
  return { organisation_id: membersOf(input).organisation_id };
}

/** The members of a body; those of a body that is no object are undefined. */
function membersOf(input: unknown): Record<string, unknown> {
  return Object(input);
}

function noBody(input: unknown): undefined {
  if (isAppError(input)) throw input;
}

export const subscriptionRouter = router({
  read: scopedProcedure('READ').query(({ ctx }) => readSubscription(ctx.app, ctx.principal)),
  overview: scopedProcedure('READ').query(({ ctx }) => readOverview(ctx.app, ctx.principal)),
  overviewWithHistory: scopedProcedure('READ').query(({ ctx }) => readOverviewWithHistory(ctx.app, ctx.principal)),
});

/** What plans permit, for the services of the company. */
export const entitlementsRouter = router({
  get: anyPrincipalProcedure('READ').input(body(entitlementsInput)).query(calls(readEntitlements)),
  check: anyPrincipalProcedure('READ').input(body(entitlementInput)).query(calls(checkEntitlement)),
});
