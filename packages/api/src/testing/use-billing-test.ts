import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type BillingTest, startBillingTest } from './billing.ts';

/**
 * Starts the App on the sandbox for all tests of a file, and stops it after them. Each test begins with the
 * payment provider's switches off, and the provider repeats a failed delivery after a short pause.
 */
export function useBillingTest(options: Parameters<typeof startBillingTest>[0] = {}): BillingTest {
  const billing = {} as BillingTest;
  beforeAll(async () => {
    Object.assign(billing, await startBillingTest(options));
  });
  beforeEach(() => {
    billing.sandbox.payment.resetSwitches();
    billing.sandbox.payment.set({ retry_first_ms: 100 });
  });
  afterAll(() => billing.close());
  return billing;
}
