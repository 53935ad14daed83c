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
import { body, nothing, operatorOnly, router } from './trpc.ts';

export const operatorsRouter = router({
  queue: operatorOnly.input(body(queueInput)).query(({ ctx, input }) => readQueue(ctx.app, ctx.principal, input)),
  approve: operatorOnly
    .input(body(approveInput))
    .mutation(({ ctx, input }) => approve(ctx.app, ctx.principal, input, ctx.client)),
  people: operatorOnly.input(body(usersInput)).query(({ ctx, input }) => findUsers(ctx.app, ctx.principal, input)),
  personHistory: operatorOnly
    .input(body(userInput))
    .query(({ ctx, input }) => readUserHistory(ctx.app, ctx.principal, input)),
  passwordLink: operatorOnly
    .input(body(userInput))
    .mutation(({ ctx, input }) => makeLinkFor(ctx.app, ctx.principal, input, ctx.client)),
  suspend: operatorOnly
    .input(body(userInput))
    .mutation(({ ctx, input }) => suspendInConsole(ctx.app, ctx.principal, input, ctx.client)),
  restore: operatorOnly
    .input(body(userInput))
    .mutation(({ ctx, input }) => restoreInConsole(ctx.app, ctx.principal, input, ctx.client)),
  decline: operatorOnly
    .input(body(declineInput))
    .mutation(({ ctx, input }) => decline(ctx.app, ctx.principal, input, ctx.client)),
  events: operatorOnly.input(body(eventsInput)).query(({ ctx, input }) => readEvents(ctx.app, ctx.principal, input)),
  event: operatorOnly.input(body(eventInput)).query(({ ctx, input }) => readEvent(ctx.app, ctx.principal, input)),
  applyAgain: operatorOnly
    .input(body(eventInput))
    .mutation(({ ctx, input }) => applyEventAgain(ctx.app, ctx.principal, input, ctx.client)),
  billingHistory: operatorOnly
    .input(body(historyInput))
    .query(({ ctx, input }) => readBillingHistory(ctx.app, ctx.principal, input)),
  compareNow: operatorOnly.input(body(nothing)).mutation(({ ctx }) => compareNow(ctx.app, ctx.principal, ctx.client)),
  drift: operatorOnly.query(({ ctx }) => readDrift(ctx.app, ctx.principal)),
  syncNow: operatorOnly
    .input(body(syncInput))
    .mutation(({ ctx, input }) => syncNow(ctx.app, ctx.principal, input, ctx.client)),
});
