import { inConsole } from '../operators/actor.ts';
import { compareNow, readDrift, syncInput, syncNow } from '../operators/events/drift.ts';
import { historyInput, readBillingHistory } from '../operators/events/read-billing-history.ts';
import { eventInput, eventsInput, readEvent, readEvents } from '../operators/events/read-events.ts';
import {
  createDeploymentKey,
  createDeploymentKeyInput,
  operatorKeyInput,
  readDeploymentKeys,
  revokeDeploymentKey,
} from '../operators/keys.ts';
import { readOperatorsWithoutFactor } from '../operators/list-operators-without-factor.ts';
import { endOverride, endOverrideInput, setOverride, setOverrideInput } from '../operators/organisations/override.ts';
import {
  listOrganisations,
  organisationInput,
  organisationsInput,
  readOrganisationPage,
} from '../operators/organisations/read-organisations.ts';
import {
  restoreOrganisation,
  restoreOrganisationInput,
  suspendOrganisation,
  suspendOrganisationInput,
} from '../operators/organisations/suspend-organisation.ts';
import { approve, approveInput, decline, declineInput } from '../operators/queue/decide.ts';
import { approveAll, approveAllInput, declineAll, declineAllInput } from '../operators/queue/decide-all.ts';
import {
  decidedInput,
  readDecided,
  undoDecision,
  undoDecisions,
  undoInput,
  undoSeveralInput,
} from '../operators/queue/decided.ts';
import { queueInput, readQueue } from '../operators/queue/read-queue.ts';
import { auditInput, readAudit } from '../operators/read-entries.ts';
import { createPasswordLinkFor, passwordLinkInput } from '../operators/users/create-password-link.ts';
import { eraseInConsole, eraseInput, exportOnRequest } from '../operators/users/data-requests.ts';
import { listUsers, readUserPage, userInput, usersInput } from '../operators/users/read-users.ts';
import { resetSecondFactorOf } from '../operators/users/reset-second-factor.ts';
import {
  endSessionsInConsole,
  restoreUser,
  restoreUserInput,
  suspendUser,
  suspendUserInput,
} from '../operators/users/suspend-user.ts';
import { body, done, fresh, freshOrPassword, nothing, operatorProcedure, router } from './trpc.ts';

export const operatorsRouter = router({
  queue: operatorProcedure.input(body(queueInput)).query(({ ctx, input }) => readQueue(ctx.app, ctx.principal, input)),
  approve: operatorProcedure
    .input(body(approveInput))
    .mutation(({ ctx, input }) => approve(ctx.app, ctx.principal, input, ctx.client)),
  approveAll: operatorProcedure
    .input(body(approveAllInput))
    .mutation(({ ctx, input }) => approveAll(ctx.app, ctx.principal, input, ctx.client)),
  declineAll: operatorProcedure
    .input(body(declineAllInput))
    .mutation(({ ctx, input }) => declineAll(ctx.app, ctx.principal, input, ctx.client)),
  decided: operatorProcedure
    .input(body(decidedInput))
    .query(({ ctx, input }) => readDecided(ctx.app, ctx.principal, input)),
  undoDecision: operatorProcedure
    .input(body(undoInput))
    .mutation(({ ctx, input }) => undoDecision(ctx.app, ctx.principal, input, ctx.client)),
  undoDecisions: operatorProcedure
    .input(body(undoSeveralInput))
    .mutation(({ ctx, input }) => undoDecisions(ctx.app, ctx.principal, input, ctx.client)),
  people: operatorProcedure.input(body(usersInput)).query(({ ctx, input }) => listUsers(ctx.app, ctx.principal, input)),
  person: operatorProcedure
    .input(body(userInput))
    .query(({ ctx, input }) => readUserPage(ctx.app, ctx.principal, input)),
  passwordLink: operatorProcedure
    .use(freshOrPassword)
    .input(body(passwordLinkInput))
    .mutation(({ ctx, input }) => createPasswordLinkFor(ctx.app, ctx.principal, input, ctx.client)),
  resetSecondFactor: operatorProcedure
    .input(body(userInput))
    .mutation(({ ctx, input }) => done(resetSecondFactorOf(ctx.app, ctx.principal, input, ctx.client))),
  endSessions: operatorProcedure
    .input(body(userInput))
    .mutation(({ ctx, input }) => endSessionsInConsole(ctx.app, ctx.principal, input, ctx.client)),
  export: operatorProcedure
    .use(fresh)
    .input(body(userInput))
    .mutation(({ ctx, input }) =>
      exportOnRequest(ctx.app, { userId: input.user_id }, inConsole(ctx.principal, ctx.client)),
    ),
  erase: operatorProcedure
    .use(freshOrPassword)
    .input(body(eraseInput))
    .mutation(({ ctx, input }) => eraseInConsole(ctx.app, ctx.principal, input, ctx.client)),
  audit: operatorProcedure.input(body(auditInput)).query(({ ctx, input }) => readAudit(ctx.app, ctx.principal, input)),
  withoutFactor: operatorProcedure.query(({ ctx }) => readOperatorsWithoutFactor(ctx.app, ctx.principal)),
  suspend: operatorProcedure
    .input(body(suspendUserInput))
    .mutation(({ ctx, input }) => suspendUser(ctx.app, input, inConsole(ctx.principal, ctx.client))),
  restore: operatorProcedure
    .input(body(restoreUserInput))
    .mutation(({ ctx, input }) => restoreUser(ctx.app, input, inConsole(ctx.principal, ctx.client))),
  organisations: operatorProcedure
    .input(body(organisationsInput))
    .query(({ ctx, input }) => listOrganisations(ctx.app, ctx.principal, input)),
  organisation: operatorProcedure
    .input(body(organisationInput))
    .query(({ ctx, input }) => readOrganisationPage(ctx.app, ctx.principal, input)),
  suspendOrganisation: operatorProcedure
    .input(body(suspendOrganisationInput))
    .mutation(({ ctx, input }) => suspendOrganisation(ctx.app, input, inConsole(ctx.principal, ctx.client))),
  restoreOrganisation: operatorProcedure
    .input(body(restoreOrganisationInput))
    .mutation(({ ctx, input }) => restoreOrganisation(ctx.app, input, inConsole(ctx.principal, ctx.client))),
  setOverride: operatorProcedure.input(body(setOverrideInput)).mutation(async ({ ctx, input }) => {
    const { withoutEffect, ...set } = await setOverride(ctx.app, input, inConsole(ctx.principal, ctx.client));
    return { ...set, without_effect: withoutEffect };
  }),
  endOverride: operatorProcedure
    .input(body(endOverrideInput))
    .mutation(({ ctx, input }) => endOverride(ctx.app, input, inConsole(ctx.principal, ctx.client))),
  decline: operatorProcedure
    .input(body(declineInput))
    .mutation(({ ctx, input }) => decline(ctx.app, ctx.principal, input, ctx.client)),
  keys: operatorProcedure.query(({ ctx }) => readDeploymentKeys(ctx.app, ctx.principal)),
  createKey: operatorProcedure
    .use(freshOrPassword)
    .input(body(createDeploymentKeyInput))
    .mutation(({ ctx, input }) => createDeploymentKey(ctx.app, ctx.principal, input, ctx.client)),
  revokeKey: operatorProcedure
    .input(body(operatorKeyInput))
    .mutation(({ ctx, input }) => done(revokeDeploymentKey(ctx.app, ctx.principal, input, ctx.client))),
  events: operatorProcedure
    .input(body(eventsInput))
    .query(({ ctx, input }) => readEvents(ctx.app, ctx.principal, input)),
  event: operatorProcedure.input(body(eventInput)).query(({ ctx, input }) => readEvent(ctx.app, ctx.principal, input)),
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
