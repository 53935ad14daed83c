import { approve, approveInput, decline, declineInput } from '../operators/decide.ts';
import { findPeople, makeLinkFor, peopleInput, personInput, restore, suspend } from '../operators/people.ts';
import { queueInput, readQueue } from '../operators/read-queue.ts';
import { body, operatorOnly, router } from './trpc.ts';

export const operatorsRouter = router({
  queue: operatorOnly.input(body(queueInput)).query(({ ctx, input }) => readQueue(ctx.app, ctx.principal, input)),
  approve: operatorOnly.input(body(approveInput)).mutation(({ ctx, input }) => approve(ctx.app, ctx.principal, input)),
  people: operatorOnly.input(body(peopleInput)).query(({ ctx, input }) => findPeople(ctx.app, ctx.principal, input)),
  passwordLink: operatorOnly
    .input(body(personInput))
    .mutation(({ ctx, input }) => makeLinkFor(ctx.app, ctx.principal, input)),
  suspend: operatorOnly.input(body(personInput)).mutation(({ ctx, input }) => suspend(ctx.app, ctx.principal, input)),
  restore: operatorOnly.input(body(personInput)).mutation(({ ctx, input }) => restore(ctx.app, ctx.principal, input)),
  decline: operatorOnly.input(body(declineInput)).mutation(({ ctx, input }) => decline(ctx.app, ctx.principal, input)),
});
