import { listOrganisations } from '../billing/summary/list-organisations.ts';
import {
  billingContactInput,
  changeBillingContact,
  renameInput,
  renameOwnOrganisation,
} from '../members/change-settings.ts';
import { createOrganisationInput, createOwnOrganisation } from '../members/create-organisation.ts';
import { withdrawInput, withdrawOrganisation } from '../members/leaving/withdraw-organisation.ts';
import {
  listOwnOrganisations,
  readOrganisation,
  switchInput,
  switchOrganisation,
} from '../members/own-organisations.ts';
import { auditLogInput, readAuditLog } from '../members/read-audit-log.ts';
import {
  readSecondFactorRule,
  requireSecondFactor,
  requireSecondFactorInput,
} from '../members/require-second-factor.ts';
import { transferInput, transferOwnership } from '../members/transfer-ownership.ts';
import { keysetInput } from '../platform/security/keyset-pagination.ts';
import { body } from './body.ts';
import {
  approvedProcedure,
  awayProcedure,
  calls,
  deploymentProcedure,
  does,
  freshOrPassword,
  limitedApprovedProcedure,
  router,
  scopedProcedure,
} from './trpc.ts';

export const organisationsRouter = router({
  list: deploymentProcedure.input(body(keysetInput)).query(calls(listOrganisations)),
  mine: awayProcedure.query(({ ctx }) => listOwnOrganisations(ctx.app, ctx.principal)),
  read: scopedProcedure('READ').query(({ ctx }) => readOrganisation(ctx.app, ctx.principal)),
  switch: awayProcedure.input(body(switchInput)).mutation(does(switchOrganisation)),
  /** Shares the limit of sign-up, which creates organisations as well. */
  create: limitedApprovedProcedure('sign-up-client')
    .input(body(createOrganisationInput))
    .mutation(calls(createOwnOrganisation)),
  withdraw: approvedProcedure.input(body(withdrawInput)).mutation(does(withdrawOrganisation)),
  auditLog: scopedProcedure('ADMIN').input(body(auditLogInput)).query(calls(readAuditLog)),
  rename: scopedProcedure('ADMIN').input(body(renameInput)).mutation(does(renameOwnOrganisation)),
  changeBillingContact: scopedProcedure('ADMIN').input(body(billingContactInput)).mutation(does(changeBillingContact)),
  secondFactorRule: scopedProcedure('ADMIN').query(({ ctx }) => readSecondFactorRule(ctx.app, ctx.principal)),
  requireSecondFactor: scopedProcedure('ADMIN')
    .use(freshOrPassword)
    .input(body(requireSecondFactorInput))
    .mutation(does(requireSecondFactor)),
  transfer: scopedProcedure('ADMIN').use(freshOrPassword).input(body(transferInput)).mutation(does(transferOwnership)),
});
