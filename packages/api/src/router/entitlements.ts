import {
  checkEntitlement,
  entitlementInput,
  entitlementsInput,
  readEntitlements,
} from '../subscription/read-entitlements.ts';
import { body, holderProcedure, router } from './trpc.ts';

export const entitlementsRouter = router({
  get: holderProcedure('READ')
    .input(body(entitlementsInput))
    .query(({ ctx, input }) => readEntitlements(ctx.app, ctx.principal, input)),
  check: holderProcedure('READ')
    .input(body(entitlementInput))
    .query(({ ctx, input }) => checkEntitlement(ctx.app, ctx.principal, input)),
});
