import { eq } from 'drizzle-orm';
import { expect } from 'vitest';
import type { App } from '../../app.ts';
import { storeAnswer } from '../../billing/sync/store-answer.ts';
import { noSyncs } from '../../billing/sync/sync-queue.ts';
import { newId } from '../../platform/db/id.ts';
import { paymentCustomers, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { hourSeconds } from '../../platform/durations.ts';
import { readSubscriptionState } from '../../platform/providers/payment/subscription-state.ts';
import { type BillingTest, makeMember } from '../billing.ts';
import { deliver, makeEvent } from './payment-events.ts';

const start = Math.floor(Date.UTC(2026, 2, 1) / 1000);

/** A subscription whose events and answers a test gives one by one. Its clock is both ours and the provider's. */
export async function reportedSubscription(billing: BillingTest) {
  const { organisationId } = await makeMember(billing);
  const unique = newId(billing.app.now());
  const names = { id: `sub_${unique}`, customer: `cus_${unique}` };
  let seconds = start;
  const now = () => new Date(seconds * 1000);
  const app: App = { ...billing.app, now, syncs: noSyncs };
  const owner = { organisationId, customerId: names.customer };
  await app.db.insert(paymentCustomers).values({ ...owner, createdAt: billing.app.now() });

  const objectOf = (status: string) => ({ ...names, status, created: start, metadata: { tier: 'silver' } });
  async function row() {
    const [found] = await app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, names.id));
    return found ?? null;
  }
  return {
    row,
    wait(hours: number) {
      seconds += hours * hourSeconds;
      return seconds;
    },
    /** Delivers an event. `created` is its second at the provider, `previous` has the values before its change. */
    event(status: string, created = seconds, previous: { status: string } | null = null) {
      const change = previous === null ? {} : { previous_attributes: previous };
      const more = { created, data: { object: objectOf(status), ...change } };
      return deliver(app, makeEvent(app, 'customer.subscription.updated', {}, more));
    },
    /** Stores the provider's answer. */
    async answer(status: string) {
      const version = (await row())?.version ?? null;
      const state = readSubscriptionState(objectOf(status));
      if (state === null) throw new Error('The answer cannot be read.');
      expect(await storeAnswer(app, owner, { state, at: seconds }, version)).toBe(true);
    },
  };
}

export const at = (seconds: number) => new Date(seconds * 1000);
