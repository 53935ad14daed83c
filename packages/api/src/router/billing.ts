import { confirmPayment } from '../billing/actions/confirm-payment.ts';
import { openPortal } from '../billing/actions/open-portal.ts';
import { requirePayment } from '../billing/actions/require-payment.ts';
import { setCancellation } from '../billing/actions/set-cancellation.ts';
import { startCheckout } from '../billing/actions/start-checkout.ts';
import { fields } from '../billing/projection/fields.ts';
import { isAppError } from '../errors.ts';
import { organisationMeantIfNamed } from '../sessions/require-same-organisation.ts';
import { router, scopedProcedure } from './trpc.ts';

/** Refused in the interface's order: the scope, then billing, then what the body holds. */
const administered = scopedProcedure('ADMIN').use(({ ctx, next }) => {
  requirePayment(ctx.app);
  return next();
});

/** The same for a body that holds at most the organisation that the page was about. */
const administeredOrganisation = administered.input(readOrganisation).use(({ ctx, input, next }) => {
  organisationMeantIfNamed(ctx.principal, input?.organisation_id);
  return next();
});

export const billingRouter = router({
  checkout: administered
    .input(readCheckout)
    .mutation(({ ctx, input }) =>
      startCheckout(ctx.app, ctx.principal, { tier: input.tier, organisation_id: input.organisation_id }),
    ),
  portal: administeredOrganisation.mutation(({ ctx }) => openPortal(ctx.app, ctx.principal)),
  cancel: administeredOrganisation.mutation(({ ctx }) => setCancellation(ctx.app, ctx.principal, true)),
  resume: administeredOrganisation.mutation(({ ctx }) => setCancellation(ctx.app, ctx.principal, false)),
  confirm: scopedProcedure('READ')
    .input(noBody)
    .mutation(({ ctx }) => confirmPayment(ctx.app, ctx.principal)),
});

/** Any JSON is accepted: a tier of any kind, or none, gets the use case's own sentence. */
function readCheckout(input: unknown): { tier?: unknown; organisation_id?: unknown } {
  const organisation = readOrganisation(input);
  return { tier: fields(input)?.tier, ...organisation };
}

function readOrganisation(input: unknown): { organisation_id?: unknown } | undefined {
  if (isAppError(input)) throw input;
  return { organisation_id: fields(input)?.organisation_id };
}

function noBody(input: unknown): undefined {
  if (isAppError(input)) throw input;
}
