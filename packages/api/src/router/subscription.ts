import { readOverview, readSubscription } from '../subscription/read-subscription.ts';
import { router, scoped } from './trpc.ts';

export const subscriptionRouter = router({
  read: scoped('READ').query(({ ctx }) => readSubscription(ctx.app, ctx.principal)),
  overview: scoped('READ').query(({ ctx }) => readOverview(ctx.app, ctx.principal)),
});
