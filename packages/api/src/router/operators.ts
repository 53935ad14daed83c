import { applyEventAgain } from '../operators/apply-event-again.ts';
import { compareNow } from '../operators/compare-now.ts';
import { approve, approveInput, decline, declineInput } from '../operators/decide.ts';
import {
  findPeople,
  makeLinkFor,
  peopleInput,
  personInput,
  readPersonHistory,
  restore,
  suspend,
} from '../operators/people.ts';
import { historyInput, readBillingHistory } from '../operators/read-billing-history.ts';
import { readDrift } from '../operators/read-drift.ts';
import { eventInput, readEvent } from '../operators/read-event.ts';
import { eventsInput, readEvents } from '../operators/read-events.ts';
import { queueInput, readQueue } from '../operators/read-queue.ts';
import { syncInput, syncNow } from '../operators/sync-now.ts';
import { body, nothing, operatorOnly, router } from './trpc.ts';

export const operatorsRouter = router({
  queue: operatorOnly.input(body(queueInput)).query(({ ctx, input }) => readQueue(ctx.app, ctx.principal, input)),
  approve: operatorOnly
    .input(body(approveInput))
    .mutation(({ ctx, input }) => approve(ctx.app, ctx.principal, input, ctx.client)),
  people: operatorOnly.input(body(peopleInput)).query(({ ctx, input }) => findPeople(ctx.app, ctx.principal, input)),
  personHistory: operatorOnly
    .input(body(personInput))
    .query(({ ctx, input }) => readPersonHistory(ctx.app, ctx.principal, input)),
  passwordLink: operatorOnly
    .input(body(personInput))
    .mutation(({ ctx, input }) => makeLinkFor(ctx.app, ctx.principal, input, ctx.client)),
  suspend: operatorOnly
    .input(body(personInput))
    .mutation(({ ctx, input }) => suspend(ctx.app, ctx.principal, input, ctx.client)),
  restore: operatorOnly
    .input(body(personInput))
    .mutation(({ ctx, input }) => restore(ctx.app, ctx.principal, input, ctx.client)),
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
