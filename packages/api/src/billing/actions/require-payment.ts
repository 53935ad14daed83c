import type { App } from '../../app.ts';
import type { Administrator } from '../../auth/principal.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Payment } from '../../platform/providers/payment/connection.ts';

/** The App of a deployment where billing is on. A use case that takes it cannot be called without the check. */
export type BillingApp = App & { payment: Payment };

/**
 * Returns the App as one where billing is on.
 *
 * @throws AppError BILLING_UNAVAILABLE with the interface's message (§1.6).
 */
export function requireBilling(app: App): BillingApp {
  requirePayment(app);
  return app as BillingApp;
}

/**
 * Returns the connection to the payment provider.
 *
 * @throws AppError BILLING_UNAVAILABLE with the interface's message (§1.6).
 */
export function requirePayment(app: App): Payment {
  if (app.payment === null) {
    throw new AppError('BILLING_UNAVAILABLE', message('billing_unavailable'));
  }
  return app.payment;
}

/**
 * Counts an action that asks the payment provider, which limits the requests of a whole deployment: no organisation may
 * use them up, and no administrator those of the organisation.
 *
 * @throws AppError TOO_MANY after 100 actions of a user or 200 of an organisation in ten minutes.
 */
export async function takeBillingAction(
  { throttle }: App,
  { user }: Administrator,
  organisationId: string,
): Promise<void> {
  await throttle.take({ 'billing-user': user.id, 'billing-organisation': organisationId });
}
