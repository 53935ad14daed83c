import type { App } from '../app.ts';
import { Refusal } from '../errors.ts';
import type { Payment } from '../providers/payment.ts';

/** @throws Refusal BILLING_UNAVAILABLE with the interface's message (§1.6). */
export function requirePayment(app: App): Payment {
  if (app.payment === null) {
    throw new Refusal('BILLING_UNAVAILABLE', 'Billing is not available on this deployment.');
  }
  return app.payment;
}
