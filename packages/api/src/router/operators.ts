import { approve, approveInput, decline, declineInput } from '../operators/decide.ts';
import { queueInput, readQueue } from '../operators/read-queue.ts';
import { body, operatorOnly, router } from './trpc.ts';

export const operatorsRouter = router({
  queue: operatorOnly.input(body(queueInput)).query(({ ctx, input }) => readQueue(ctx.app, ctx.principal, input)),
  approve: operatorOnly.input(body(approveInput)).mutation(({ ctx, input }) => approve(ctx.app, ctx.principal, input)),
  decline: operatorOnly.input(body(declineInput)).mutation(({ ctx, input }) => decline(ctx.app, ctx.principal, input)),
});
