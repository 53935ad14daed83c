import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { claimMode, storedMode } from '../billing/mode.ts';
import { readPlan } from '../organisations/plan.ts';
import { openDatabase } from '../platform/db/client.ts';
import { openPools } from '../platform/db/open-pools.ts';
import {
  paymentCheckouts,
  paymentCustomers,
  paymentEvents,
  paymentSettings,
  paymentSubscriptions,
} from '../platform/db/schema/billing.ts';
import { changes } from '../platform/db/schema/changes.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { createPayment } from '../platform/providers/payment/connection.ts';
import { makeSubscriber } from '../testing/billing.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { commandLine } from './actor.ts';
import { forgetPayments, readStoredPayments } from './forget-payments.ts';
import { overrideFields, setOverride } from './organisations/override.ts';

const billing = useBillingTest();

/** Stops the service, and calls `work` with the App of an admin command. */
async function asCommand<Result>(work: (app: typeof billing.app) => Promise<Result>): Promise<Result> {
  await billing.app.close();
  const { config } = billing.app;
  const own = openPools({ ...config, databaseUrl: config.databaseUrl ?? '' }, { work: false });
  try {
    // The queue's own connection.
    await own.background.sql`select 1`;
    return await work({ ...billing.app, db: own.requests.db, sql: own.requests.sql });
  } finally {
    await own.close();
  }
}

test('refuses while a service runs, with the wrong mode and while plans are paid, and then removes all', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const { app } = billing;
  const pastDueSince = new Date(app.now().getTime() - 10 * dayMilliseconds);
  const failed = app.db.update(paymentSubscriptions).set({ status: 'past_due', pastDueSince });
  await failed.where(eq(paymentSubscriptions.id, subscription.id));
  expect(await readStoredPayments(app)).toMatchObject({ entitledIds: [] });
  const agreed = overrideFields.parse({ reason: 'By contract.', grace_days: 30 });
  await setOverride(app, { organisationId: principal.organisationId, ...agreed }, commandLine);
  expect(await readStoredPayments(app)).toMatchObject({
    mode: 'test',
    customers: 1,
    subscriptions: 1,
    entitledIds: [subscription.id],
  });

  await expect(forgetPayments(app, { mode: 'live', evenEntitled: true })).rejects.toThrow('is of test mode');
  const running = openDatabase({ url: app.config.databaseUrl ?? '', pool: 1, prepare: true });
  await running.sql`select 1`;
  await expect(forgetPayments(app, { mode: 'test', evenEntitled: true })).rejects.toThrow('A service runs');
  await running.close();

  await asCommand(async (own) => {
    await expect(forgetPayments(own, { mode: 'test', evenEntitled: false })).rejects.toThrow('add --entitled');
    await forgetPayments(own, { mode: 'test', evenEntitled: true });
    for (const table of [
      paymentCustomers,
      paymentSubscriptions,
      paymentEvents,
      paymentCheckouts,
      paymentSettings,
    ] as const) {
      expect(await own.db.$count(table)).toBe(0);
    }
    expect((await readPlan(own, principal.organisationId)).tier).toBe('free');
    const told = await own.db.select().from(changes);
    expect(told.at(-1)).toMatchObject({ type: 'plan.changed', data: { tier: 'free', status: 'none' } });

    await expect(readStoredPayments(own)).rejects.toThrow('holds nothing');
    const { apiUrl } = billing.sandbox.payment;
    await claimMode({ ...own, payment: createPayment({ secretKey: 'sk_live_next', apiUrl }) });
    expect(await storedMode(own)).toBe('live');
  });
});
