import { readOverview, readSubscription } from '../subscription/read-subscription.ts';
import { router, scopedProcedure } from './trpc.ts';

export const subscriptionRouter = router({
  read: scopedProcedure('READ').query(({ ctx }) => readSubscription(ctx.app, ctx.principal)),
  overview: scopedProcedure('READ').query(({ ctx }) => readOverview(ctx.app, ctx.principal)),
});
