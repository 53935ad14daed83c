import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { readPlan } from '../../organisations/plan.ts';
import { paymentLeases, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { message, sentenceIn } from '../../platform/messages.ts';
import { makeIncomplete, makeSecond, makeSubscriber } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { leaseOf } from '../customers/customer.ts';
import { compareAll, reconcileAll } from './reconcile.ts';
import { linesOf } from './report.ts';
import { startRound } from './sync-round.ts';

const billing = useBillingTest({ timeouts: { leaseSeconds: 3 } });
const provider = () => billing.sandbox.payment;

async function row(id: string) {
  const [found] = await billing.app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  return found;
}

async function manyMore(count: number, customer: unknown) {
  const made: { id: string }[] = [];
  while (made.length < count) made.push(await makeSecond(billing, customer, 'gold'));
  return made;
}

describe('a round over all subscriptions', () => {
  test('waits once for a busy organisation, reports and marks its subscriptions, and repairs the others', async () => {
    const busy = await makeSubscriber(billing);
    const others = [busy.subscription, ...(await manyMore(2, busy.subscription.customer))];
    await billing.settled();
    const { principal, subscription } = await makeSubscriber(billing);
    provider().set({ drop_deliveries: true });
    for (const { id } of [...others, subscription]) provider().forceStatus(id, 'paused');
    for (const event of provider().events()) event.pending_webhooks = 0;
    await billing.app.db
      .update(paymentSubscriptions)
      .set({ needsSync: true })
      .where(eq(paymentSubscriptions.id, busy.subscription.id));

    const name = leaseOf(busy.principal.organisationId);
    const holder = '0199c0de-0000-7000-8000-000000000000';
    await billing.app.db.insert(paymentLeases).values({ name, holder, endsAt: new Date(Date.now() + 3_600_000) });
    const failures = () => billing.logged.filter(({ message }) => message.endsWith('could not be brought up to date.'));
    const before = failures().length;
    const report = await reconcileAll(billing.app);
    expect(failures()).toHaveLength(before + 1);

    expect((await readPlan(billing.app, principal.organisationId)).tier).toBe('free');
    expect(report.repaired).toEqual([subscription.id]);
    const why = message('billing_request_under_way');
    const ids = others.map(({ id }) => id).sort();
    expect(report.leftOut.toSorted((one, other) => (one.subscription < other.subscription ? -1 : 1))).toEqual(
      ids.map((id) => ({ subscription: id, why })),
    );
    expect(linesOf(report)).toContain(`not brought up to date: ${busy.subscription.id} (${sentenceIn('en', why)})`);
    for (const id of ids) expect(await row(id)).toMatchObject({ needsSync: true, status: 'active' });
    await billing.app.db.delete(paymentLeases).where(eq(paymentLeases.name, name));

    const next = await reconcileAll(billing.app);
    expect(next.leftOut).toEqual([]);
    for (const id of ids) expect(await row(id)).toMatchObject({ needsSync: false, status: 'paused' });
  });

  test('reports each difference between the row and the provider', async () => {
    const ended = await makeSubscriber(billing);
    const scheduled = await makeSubscriber(billing);
    provider().set({ drop_deliveries: true });
    const second = await makeSecond(billing, scheduled.subscription.customer, 'gold');
    provider().forceStatus(ended.subscription.id, 'canceled');
    await requirePayment(billing.app).ask((api) =>
      api.subscriptions.update(scheduled.subscription.id, { cancel_at_period_end: true }),
    );
    for (const event of provider().events()) event.pending_webhooks = 0;

    const lines = linesOf(await reconcileAll(billing.app));
    const end = (await row(scheduled.subscription.id))?.endsAt?.toISOString();
    expect(lines).toContain(
      `repaired: ${scheduled.subscription.id} (set to end was no, is yes; end was none, is ${end})`,
    );
    expect(lines).toContain(`repaired: ${second.id} (row was none, is gold, active)`);
    expect(lines).toContainEqual(
      expect.stringContaining(`repaired: ${ended.subscription.id} (status was active, is canceled; `),
    );
    expect(linesOf(await reconcileAll(billing.app)).filter((line) => line.startsWith('repaired'))).toEqual([]);
  });

  test('continues if the provider refuses a request about one subscription', async () => {
    const [one, two] = [await makeSubscriber(billing), await makeSubscriber(billing)];
    provider().set({ drop_deliveries: true });
    for (const { subscription } of [one, two]) provider().forceStatus(subscription.id, 'paused');
    for (const event of provider().events()) event.pending_webhooks = 0;
    provider().failNext(500, { count: 2, only: `GET /v1/subscriptions/${one.subscription.id}` });

    const report = await reconcileAll(billing.app);
    expect(report.leftOut).toEqual([{ subscription: one.subscription.id, why: message('provider_silent') }]);
    expect(report.repaired).toEqual([two.subscription.id]);
  });

  test('asks about no subscription that has ended here and at the provider', async () => {
    const { subscription } = await makeSubscriber(billing);
    const expired = await makeIncomplete(billing, subscription.customer);
    provider().clock.advance({ days: 1 });
    await billing.settled();
    expect(await row(expired.id)).toMatchObject({ status: 'incomplete_expired' });

    const asked: string[] = [];
    const { sync, ...round } = startRound(billing.app);
    await compareAll(billing.app, { ...round, sync: (each) => sync(each).finally(() => asked.push(each.id)) });
    expect(asked).not.toContain(expired.id);
  });
});
