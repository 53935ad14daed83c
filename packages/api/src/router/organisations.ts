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
import {
  approvedProcedure,
  awayProcedure,
  body,
  deploymentProcedure,
  done,
  freshOrPassword,
  limitedApprovedProcedure,
  router,
  scopedProcedure,
} from './trpc.ts';

export const organisationsRouter = router({
  list: deploymentProcedure
    .input(body(keysetInput))
    .query(({ ctx, input }) => listOrganisations(ctx.app, ctx.principal, input)),
  mine: awayProcedure.query(({ ctx }) => listOwnOrganisations(ctx.app, ctx.principal)),
  read: scopedProcedure('READ').query(({ ctx }) => readOrganisation(ctx.app, ctx.principal)),
  switch: awayProcedure
    .input(body(switchInput))
    .mutation(({ ctx, input }) => done(switchOrganisation(ctx.app, ctx.principal, input))),
  /** Shares the limit of sign-up, which creates organisations as well. */
  create: limitedApprovedProcedure('sign-up-client')
    .input(body(createOrganisationInput))
    .mutation(({ ctx, input }) => createOwnOrganisation(ctx.app, ctx.principal, input, ctx.client)),
  withdraw: approvedProcedure
    .input(body(withdrawInput))
    .mutation(({ ctx, input }) => done(withdrawOrganisation(ctx.app, ctx.principal, input, ctx.client))),
  auditLog: scopedProcedure('ADMIN')
    .input(body(auditLogInput))
    .query(({ ctx, input }) => readAuditLog(ctx.app, ctx.principal, input)),
  rename: scopedProcedure('ADMIN')
    .input(body(renameInput))
    .mutation(({ ctx, input }) => done(renameOwnOrganisation(ctx.app, ctx.principal, input, ctx.client))),
  changeBillingContact: scopedProcedure('ADMIN')
    .input(body(billingContactInput))
    .mutation(({ ctx, input }) => done(changeBillingContact(ctx.app, ctx.principal, input, ctx.client))),
  secondFactorRule: scopedProcedure('ADMIN').query(({ ctx }) => readSecondFactorRule(ctx.app, ctx.principal)),
  requireSecondFactor: scopedProcedure('ADMIN')
    .use(freshOrPassword)
    .input(body(requireSecondFactorInput))
    .mutation(({ ctx, input }) => done(requireSecondFactor(ctx.app, ctx.principal, input, ctx.client))),
  transfer: scopedProcedure('ADMIN')
    .use(freshOrPassword)
    .input(body(transferInput))
    .mutation(({ ctx, input }) => done(transferOwnership(ctx.app, ctx.principal, input, ctx.client))),
});
