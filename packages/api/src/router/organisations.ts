import {
  billingContactInput,
  changeBillingContact,
  renameInput,
  renameOwnOrganisation,
} from '../members/change-settings.ts';
import { createOrganisationInput, createOwnOrganisation } from '../members/create-organisation.ts';
import { listOwnOrganisations, switchInput, switchOrganisation } from '../members/own-organisations.ts';
import { readOrganisation } from '../members/read-organisation.ts';
import { transferInput, transferOwnership } from '../members/transfer-ownership.ts';
import { requireApproved } from '../sessions/principal.ts';
import { body, limited, router, scoped, signedIn } from './trpc.ts';

/** The limit of sign-up, which creates organisations as well. */
const limitedSignedIn = limited('sign-up-client').use(({ ctx, next }) =>
  next({ ctx: { principal: requireApproved(ctx.principal) } }),
);

export const organisationsRouter = router({
  mine: signedIn.query(({ ctx }) => listOwnOrganisations(ctx.app, ctx.principal)),
  read: scoped('READ').query(({ ctx }) => readOrganisation(ctx.app, ctx.principal)),
  switch: signedIn.input(body(switchInput)).mutation(async ({ ctx, input }) => {
    await switchOrganisation(ctx.app, ctx.principal, input);
    return { ok: true as const };
  }),
  create: limitedSignedIn
    .input(body(createOrganisationInput))
    .mutation(({ ctx, input }) => createOwnOrganisation(ctx.app, ctx.principal, input, ctx.client)),
  rename: scoped('ADMIN')
    .input(body(renameInput))
    .mutation(async ({ ctx, input }) => {
      await renameOwnOrganisation(ctx.app, ctx.principal, input, ctx.client);
      return { ok: true as const };
    }),
  changeBillingContact: scoped('ADMIN')
    .input(body(billingContactInput))
    .mutation(async ({ ctx, input }) => {
      await changeBillingContact(ctx.app, ctx.principal, input, ctx.client);
      return { ok: true as const };
    }),
  transfer: scoped('ADMIN')
    .input(body(transferInput))
    .mutation(async ({ ctx, input }) => {
      await transferOwnership(ctx.app, ctx.principal, input, ctx.client);
      return { ok: true as const };
    }),
});
