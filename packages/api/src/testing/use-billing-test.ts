import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type BillingTest, startBillingTest } from './billing.ts';

type Options = NonNullable<Parameters<typeof startBillingTest>[0]> & {
  /** Whether each test begins with a new clock and without the objects of earlier tests at the provider. */
  emptiesProvider?: boolean;
};

/**
 * Starts the App on the sandbox for all tests of a file, and stops it after them. Each test begins with the
 * payment provider's switches off, and the provider repeats a failed delivery after a short pause.
 */
export function useBillingTest({ emptiesProvider = false, ...options }: Options = {}): BillingTest {
  const billing = {} as BillingTest;
  beforeAll(async () => {
    Object.assign(billing, await startBillingTest(options));
  });
  beforeEach(() => {
    const { payment } = billing.sandbox;
    if (emptiesProvider) payment.reset();
    else payment.resetSwitches();
    payment.set({ retry_first_ms: 100 });
  });
  afterAll(() => billing.close());
  return billing;
}
