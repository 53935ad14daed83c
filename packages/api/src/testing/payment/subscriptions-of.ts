import { eq } from 'drizzle-orm';
import { requirePayment } from '../../billing/actions/require-payment.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import type { BillingTest } from '../billing.ts';

/** Reads and changes subscriptions at the provider, and reads their rows. */
export function subscriptionsOf(billing: BillingTest) {
  const ask = () => requirePayment(billing.app).ask;
  return {
    /** Sends a request to the provider, past the service. */
    ask,

    /** Creates a schedule that manages the subscription. */
    schedule: (id: string) => ask()((api) => api.subscriptionSchedules.create({ from_subscription: id })),

    /** Returns the subscription as the provider has it. */
    stateOf: (id: string) => billing.sandbox.payment.state().subscriptions[id],

    /** Returns the subscription's row. */
    async rowOf(id: string) {
      const [row] = await billing.app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
      return row;
    },
  };
}
