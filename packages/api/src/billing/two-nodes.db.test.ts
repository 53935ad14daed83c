import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSession, startSession } from '../auth/sessions/session.ts';
import { suspendOrganisation } from '../operators/organisations/suspend-organisation.ts';
import { readPlan } from '../organisations/plan.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { signDelivery } from '../platform/providers/payment/verify-delivery.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeMember, makeSubscriber, ownedBy } from '../testing/billing.ts';
import { decideNow, testClient } from '../testing/factories.ts';
import { makeEvent } from '../testing/payment/payment-events.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { endSubscriptions } from './actions/end-subscriptions.ts';
import { type BillingApp, requireBilling } from './actions/require-payment.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { decideDuePlans } from './entitlement/decide-plan.ts';
import { receiveEvent } from './events/receive-event.ts';

// Two nodes share one database and one provider. The clock of the second node may be ahead.
const first = useBillingTest();
let second: TestApp;
let other: BillingApp;
beforeAll(async () => {
  const { databaseUrl } = first.app.config;
  second = await startTestApp({
    work: false,
    environment: { DATABASE_URL: databaseUrl ?? '', PAYMENT_API_URL: first.sandbox.payment.apiUrl },
  });
  other = requireBilling(second.app);
});
afterAll(() => second.close());

const provider = () => first.sandbox.payment;
const live = (principal: Parameters<typeof ownedBy>[1]) =>
  ownedBy(first, principal).subscriptions.filter(({ status }) => status !== 'canceled');

describe('checkouts on two nodes at the same time', () => {
  test('of two administrators who choose different tiers leave one page that can be paid', async () => {
    const principal = await makeMember(first);
    const choices = Array.from({ length: 6 }, (_, at) =>
      startCheckout(at % 2 ? first.app : other, principal, { tier: at % 3 ? 'gold' : 'silver' }),
    );
    const urls = (await Promise.allSettled(choices)).flatMap((end) =>
      end.status === 'fulfilled' ? end.value.url : [],
    );
    expect(ownedBy(first, principal).customers).toHaveLength(1);
    expect(ownedBy(first, principal).sessions.filter(({ status }) => status === 'open')).toHaveLength(1);

    for (const url of new Set(urls)) {
      try {
        provider().payCheckout(url);
      } catch {
        // The provider has expired this page.
      }
    }
    await first.settled();
    expect(live(principal)).toHaveLength(1);
  });

  test('a page that is paid while its organisation is deleted leaves no subscription that continues to bill', async () => {
    const principal = await makeMember(first);
    const { url } = await startCheckout(first.app, principal, { tier: 'silver' });
    const paid = provider().payCheckout(url);
    await endSubscriptions(other, principal.organisationId);
    await first.app.db.delete(organisations).where(eq(organisations.id, principal.organisationId));
    await first.settled();
    expect(paid).toBeDefined();
    expect(live(principal)).toEqual([]);
  });

  test('a page that is paid after its organisation was suspended gives the plan back with the organisation, once', async () => {
    const principal = await makeMember(first);
    const { organisationId } = principal;
    const { url } = await startCheckout(first.app, principal, { tier: 'silver' });
    await suspendOrganisation(other, { organisationId }, { actorId: null });
    provider().payCheckout(url);
    await first.settled();
    expect(live(principal)).toHaveLength(1);
    expect(await readPlan(first.app, organisationId)).toMatchObject({ tier: 'silver' });
  });
});

test('a cancellation in the portal and one on a page at the same time schedule one end, which one resume removes', async () => {
  const { principal, subscription } = await makeSubscriber(first);
  const inPortal = first.app.payment.ask((api) =>
    api.subscriptions.update(subscription.id, { cancel_at_period_end: true }),
  );
  await Promise.all([inPortal, ...[first.app, other].map((app) => setCancellation(app, principal, { cancel: true }))]);
  await first.settled();
  const before = await readPlan(first.app, principal.organisationId);
  expect(before.subscription).toMatchObject({ cancelAtPeriodEnd: true });

  expect(await setCancellation(other, principal, { cancel: false })).toMatchObject({ cancel_at_period_end: false });
  await first.settled();
  expect(live(principal)).toMatchObject([{ cancel_at_period_end: false, cancel_at: null }]);
});

describe('a node whose clock is ten minutes ahead', () => {
  beforeAll(() => second.advance(600_000));

  test('shares its sessions with the other node', async () => {
    const { user, organisationId } = await makeMember(first);
    const session = { userId: user.id, organisationId, client: testClient };
    for (const [from, to] of [
      [first.app, other],
      [other, first.app],
    ] as const) {
      expect(await readSession(to, await startSession(from, session))).toMatchObject({ user: { id: user.id } });
    }
  });

  test('refuses deliveries, which the provider repeats until the other node stores them', async () => {
    const event = makeEvent(first.app, 'invoice.paid', { id: 'in_skewed', customer: 'cus_unknown' });
    const body = JSON.stringify(event);
    const signature = await signDelivery(body, first.app.config.webhookSecrets[0] ?? '', first.app.now());
    const delivery = { body: Buffer.from(body), signature };
    await expect(receiveEvent(other, delivery)).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(second.logged.map(({ message }) => message)).toContain('A delivery to /webhooks/payment was refused.');
    expect(await receiveEvent(first.app, delivery)).toMatchObject({ received: true });
  });

  test('ends a plan ten minutes early, for both nodes alike and in the feed', async () => {
    const { principal } = await makeSubscriber(first);
    const { organisationId } = principal;
    const endsAt = new Date(first.app.now().getTime() + 300_000);
    await first.app.sql`
      update payment_subscriptions set cancel_at_period_end = true, ends_at = ${endsAt.toISOString()}
      where organisation_id = ${organisationId}`;
    await decideNow(first.app, organisationId);
    await decideDuePlans(other);
    expect(await readPlan(other, organisationId)).toMatchObject({ tier: 'free' });
    expect(await readPlan(first.app, organisationId)).toMatchObject({ tier: 'free' });
    await decideDuePlans(first.app);
    const published = await first.app.sql`
      select data ->> 'tier' as tier from changes where organisation_id = ${organisationId} and type = 'plan.changed'
      order by id`;
    expect(published.at(-1)).toEqual({ tier: 'free' });
  });
});
