import { approve, approveInput, decline, declineInput } from '../operators/decide.ts';
import { applyEventAgain } from '../operators/events/apply-event-again.ts';
import { compareNow } from '../operators/events/compare-now.ts';
import { historyInput, readBillingHistory } from '../operators/events/read-billing-history.ts';
import { readDrift } from '../operators/events/read-drift.ts';
import { eventInput, readEvent } from '../operators/events/read-event.ts';
import { eventsInput, readEvents } from '../operators/events/read-events.ts';
import { syncInput, syncNow } from '../operators/events/sync-now.ts';
import { queueInput, readQueue } from '../operators/read-queue.ts';
import {
  findUsers,
  makeLinkFor,
  readUserHistory,
  restoreInConsole,
  suspendInConsole,
  userInput,
  usersInput,
} from '../operators/users.ts';
import { body, nothing, operatorProcedure, router } from './trpc.ts';

export const operatorsRouter = router({
  queue: operatorProcedure.input(body(queueInput)).query(({ ctx, input }) => readQueue(ctx.app, ctx.principal, input)),
  approve: operatorProcedure
    .input(body(approveInput))
    .mutation(({ ctx, input }) => approve(ctx.app, ctx.principal, input, ctx.client)),
  people: operatorProcedure.input(body(usersInput)).query(({ ctx, input }) => findUsers(ctx.app, ctx.principal, input)),
  personHistory: operatorProcedure
    .input(body(userInput))
    .query(({ ctx, input }) => readUserHistory(ctx.app, ctx.principal, input)),
  passwordLink: operatorProcedure
    .input(body(userInput))
    .mutation(({ ctx, input }) => makeLinkFor(ctx.app, ctx.principal, input, ctx.client)),
  suspend: operatorProcedure
    .input(body(userInput))
    .mutation(({ ctx, input }) => suspendInConsole(ctx.app, ctx.principal, input, ctx.client)),
  restore: operatorProcedure
    .input(body(userInput))
    .mutation(({ ctx, input }) => restoreInConsole(ctx.app, ctx.principal, input, ctx.client)),
  decline: operatorProcedure
    .input(body(declineInput))
    .mutation(({ ctx, input }) => decline(ctx.app, ctx.principal, input, ctx.client)),
  events: operatorProcedure
    .input(body(eventsInput))
    .query(({ ctx, input }) => readEvents(ctx.app, ctx.principal, input)),
  event: operatorProcedure.input(body(eventInput)).query(({ ctx, input }) => readEvent(ctx.app, ctx.principal, input)),
  applyAgain: operatorProcedure
    .input(body(eventInput))
    .mutation(({ ctx, input }) => applyEventAgain(ctx.app, ctx.principal, input, ctx.client)),
  billingHistory: operatorProcedure
    .input(body(historyInput))
    .query(({ ctx, input }) => readBillingHistory(ctx.app, ctx.principal, input)),
  compareNow: operatorProcedure
    .input(body(nothing))
    .mutation(({ ctx }) => compareNow(ctx.app, ctx.principal, ctx.client)),
  drift: operatorProcedure.query(({ ctx }) => readDrift(ctx.app, ctx.principal)),
  syncNow: operatorProcedure
    .input(body(syncInput))
    .mutation(({ ctx, input }) => syncNow(ctx.app, ctx.principal, input, ctx.client)),
});
