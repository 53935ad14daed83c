import type { App } from '../../app.ts';
import { AppError } from '../../errors.ts';
import type { Payment } from '../../providers/payment.ts';

/**
 * Returns the connection to the payment provider.
 *
 * @throws AppError BILLING_UNAVAILABLE with the interface's message (§1.6).
 */
export function requirePayment(app: App): Payment {
  if (app.payment === null) {
    throw new AppError('BILLING_UNAVAILABLE', 'Billing is not available on this deployment.');
  }
  return app.payment;
}
