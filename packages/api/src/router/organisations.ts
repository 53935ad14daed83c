import { listOwnOrganisations, switchInput, switchOrganisation } from '../members/own-organisations.ts';
import { body, router, signedIn } from './trpc.ts';

export const organisationsRouter = router({
  mine: signedIn.query(({ ctx }) => listOwnOrganisations(ctx.app, ctx.principal)),
  switch: signedIn.input(body(switchInput)).mutation(async ({ ctx, input }) => {
    await switchOrganisation(ctx.app, ctx.principal, input);
    return { ok: true as const };
  }),
});
