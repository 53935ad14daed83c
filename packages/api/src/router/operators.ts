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
import { body, nothing } from './body.ts';
import { calls, does, fresh, freshOrPassword, operatorProcedure, router } from './trpc.ts';

export const operatorsRouter = router({
  queue: operatorProcedure.input(body(queueInput)).query(calls(readQueue)),
  approve: operatorProcedure.input(body(approveInput)).mutation(calls(approve)),
  approveAll: operatorProcedure.input(body(approveAllInput)).mutation(calls(approveAll)),
  declineAll: operatorProcedure.input(body(declineAllInput)).mutation(calls(declineAll)),
  decided: operatorProcedure.input(body(decidedInput)).query(calls(readDecided)),
  undoDecision: operatorProcedure.input(body(undoInput)).mutation(calls(undoDecision)),
  undoDecisions: operatorProcedure.input(body(undoSeveralInput)).mutation(calls(undoDecisions)),
  people: operatorProcedure.input(body(usersInput)).query(calls(listUsers)),
  person: operatorProcedure.input(body(userInput)).query(calls(readUserPage)),
  passwordLink: operatorProcedure
    .use(freshOrPassword)
    .input(body(passwordLinkInput))
    .mutation(calls(createPasswordLinkFor)),
  resetSecondFactor: operatorProcedure.input(body(userInput)).mutation(does(resetSecondFactorOf)),
  endSessions: operatorProcedure.input(body(userInput)).mutation(calls(endSessionsInConsole)),
  export: operatorProcedure
    .use(fresh)
    .input(body(userInput))
    .mutation(({ ctx, input }) =>
      exportOnRequest(ctx.app, { userId: input.user_id }, inConsole(ctx.principal, ctx.client)),
    ),
  erase: operatorProcedure.use(freshOrPassword).input(body(eraseInput)).mutation(calls(eraseInConsole)),
  audit: operatorProcedure.input(body(auditInput)).query(calls(readAudit)),
  withoutFactor: operatorProcedure.query(({ ctx }) => readOperatorsWithoutFactor(ctx.app, ctx.principal)),
  suspend: operatorProcedure
    .input(body(suspendUserInput))
    .mutation(({ ctx, input }) => suspendUser(ctx.app, input, inConsole(ctx.principal, ctx.client))),
  restore: operatorProcedure
    .input(body(restoreUserInput))
    .mutation(({ ctx, input }) => restoreUser(ctx.app, input, inConsole(ctx.principal, ctx.client))),
  organisations: operatorProcedure.input(body(organisationsInput)).query(calls(listOrganisations)),
  organisation: operatorProcedure.input(body(organisationInput)).query(calls(readOrganisationPage)),
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
  decline: operatorProcedure.input(body(declineInput)).mutation(calls(decline)),
  keys: operatorProcedure.query(({ ctx }) => readDeploymentKeys(ctx.app, ctx.principal)),
  createKey: operatorProcedure
    .use(freshOrPassword)
    .input(body(createDeploymentKeyInput))
    .mutation(calls(createDeploymentKey)),
  revokeKey: operatorProcedure.input(body(operatorKeyInput)).mutation(does(revokeDeploymentKey)),
  events: operatorProcedure.input(body(eventsInput)).query(calls(readEvents)),
  event: operatorProcedure.input(body(eventInput)).query(calls(readEvent)),
  billingHistory: operatorProcedure.input(body(historyInput)).query(calls(readBillingHistory)),
  compareNow: operatorProcedure
    .input(body(nothing))
    .mutation(({ ctx }) => compareNow(ctx.app, ctx.principal, ctx.client)),
  drift: operatorProcedure.query(({ ctx }) => readDrift(ctx.app, ctx.principal)),
  syncNow: operatorProcedure.input(body(syncInput)).mutation(calls(syncNow)),
});
