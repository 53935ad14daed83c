import { confirmPayment } from '../billing/confirm-payment.ts';
import { fields } from '../billing/fields.ts';
import { openPortal } from '../billing/open-portal.ts';
import { readLapse } from '../billing/read-lapse.ts';
import { readNotice } from '../billing/read-notice.ts';
import { requirePayment } from '../billing/require-payment.ts';
import { setCancellation } from '../billing/set-cancellation.ts';
import { startCheckout } from '../billing/start-checkout.ts';
import { isRefusal } from '../errors.ts';
import { router, scoped } from './trpc.ts';

/** Refused in the interface's order: the scope, then billing, then what the body holds. */
const administered = scoped('ADMIN').use(({ ctx, next }) => {
  requirePayment(ctx.app);
  return next();
});

export const billingRouter = router({
  checkout: administered
    .input(readBody)
    .mutation(({ ctx, input }) => startCheckout(ctx.app, ctx.principal, { tier: input.tier })),
  portal: administered.input(noBody).mutation(({ ctx }) => openPortal(ctx.app, ctx.principal)),
  cancel: administered.input(noBody).mutation(({ ctx }) => setCancellation(ctx.app, ctx.principal, true)),
  resume: administered.input(noBody).mutation(({ ctx }) => setCancellation(ctx.app, ctx.principal, false)),
  confirm: scoped('READ')
    .input(noBody)
    .mutation(({ ctx }) => confirmPayment(ctx.app, ctx.principal)),
  lapse: scoped('READ').query(({ ctx }) => readLapse(ctx.app, ctx.principal)),
  notice: scoped('READ').query(({ ctx }) => readNotice(ctx.app, ctx.principal)),
});

/** Any JSON will do: a tier of any kind, or none, has the use case's own sentence. */
function readBody(input: unknown): { tier?: unknown } {
  if (isRefusal(input)) throw input;
  return { tier: fields(input)?.tier };
}

function noBody(input: unknown): undefined {
  if (isRefusal(input)) throw input;
}
