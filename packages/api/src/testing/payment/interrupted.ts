import type { App } from '../../app.ts';
import { type BillingApp, requirePayment } from '../../billing/actions/require-payment.ts';

/** Returns the App with a provider at which `happens` runs after its n-th answer. */
export function interrupted(app: App, n: number, happens: () => void): BillingApp {
  const payment = requirePayment(app);
  let answers = 0;
  const ask: typeof payment.ask = async (question) => {
    const answer = await payment.ask(question);
    if (++answers === n) happens();
    return answer;
  };
  return { ...app, payment: { ...payment, ask } };
}
