import {
  checkEntitlement,
  entitlementInput,
  entitlementsInput,
  readEntitlements,
} from '../billing/summary/read-entitlements.ts';
import { readOverview, readOverviewWithHistory, readSubscription } from '../billing/summary/read-subscription.ts';
import { anyPrincipalProcedure, body, router, scopedProcedure } from './trpc.ts';

export const subscriptionRouter = router({
  read: scopedProcedure('READ').query(({ ctx }) => readSubscription(ctx.app, ctx.principal)),
  overview: scopedProcedure('READ').query(({ ctx }) => readOverview(ctx.app, ctx.principal)),
  overviewWithHistory: scopedProcedure('READ').query(({ ctx }) => readOverviewWithHistory(ctx.app, ctx.principal)),
});

/** What plans permit, for the services of the company. */
export const entitlementsRouter = router({
  get: anyPrincipalProcedure('READ')
    .input(body(entitlementsInput))
    .query(({ ctx, input }) => readEntitlements(ctx.app, ctx.principal, input)),
  check: anyPrincipalProcedure('READ')
    .input(body(entitlementInput))
    .query(({ ctx, input }) => checkEntitlement(ctx.app, ctx.principal, input)),
});
