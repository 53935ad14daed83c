import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '../app.ts';
import { type Administrator, type Reader, type Role, requireScope, type UserPrincipal } from '../auth/principal.ts';
import { type BillingApp, requireBilling, requirePayment } from '../billing/actions/require-payment.ts';
import { startCheckout } from '../billing/actions/start-checkout.ts';
import { receiveEvent } from '../billing/events/receive-event.ts';
import { loadPlans } from '../billing/plans/plans.ts';
import { recordJoined } from '../changes/record-change.ts';
import type { Config } from '../platform/config.ts';
import { newId } from '../platform/db/id.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { errorCodes, isAppError } from '../platform/errors.ts';
import type { JobName } from '../platform/jobs/registry.ts';
import { startTestApp, type TestApp } from './app.ts';
import { principalOf } from './principal.ts';

export type BillingTest = TestApp & {
  app: BillingApp;
  /** Resolves when all events are delivered, and the jobs and syncs that they caused have ended. */
  settled: () => Promise<void>;
  /** Decides the results of later deliveries: `resultOf` is called for each. */
  deliveriesAre: (resultOf: () => DeliveryResult) => void;
};

/**
 * 'refused' fails before the event is processed, 'done without an answer' after it: the provider
 * retries in both cases.
 */
export type DeliveryResult = 'answered' | 'refused' | 'done without an answer';

/** Starts the App with the sandbox, whose signed events arrive in an HTTP request. */
export async function startBillingTest(options: Parameters<typeof startTestApp>[0] = {}): Promise<BillingTest> {
  // A slow machine needs longer for an action than its user would wait.
  const test = await startTestApp({ ...options, timeouts: { actionSeconds: 60, ...options.timeouts } });
  let resultOf: () => DeliveryResult = () => 'answered';
  const server = createServer(async (request, response) => {
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part);
    const result = resultOf();
    if (result === 'refused') return void response.writeHead(500).end();
    const signature = String(request.headers['payment-signature'] ?? '');
    const answer = await receiveEvent(test.app, { body: Buffer.concat(parts), signature }).then(
      (body) => ({ status: 200, body: body as object }),
      (error: unknown) => ({
        status: isAppError(error) ? errorCodes[error.code].status : 500,
        body: { error: String(error) },
      }),
    );
    if (result === 'done without an answer') return void response.writeHead(500).end();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.sandbox.payment.setWebhookUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  test.sandbox.payment.set({ retry_first_ms: 100 });

  return {
    ...test,
    app: requireBilling(test.app),
    deliveriesAre(next) {
      resultOf = next;
    },
    settled: () => settled(test),
    async close() {
      test.sandbox.payment.setWebhookUrl(null);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await test.close();
    },
  };
}

/** Waits for a moment in which no delivery, no job of billing and no sync waits or runs. */
async function settled({ app, sandbox }: TestApp): Promise<void> {
  const { deliveries } = sandbox.payment;
  const newest = () => deliveries.list().at(-1)?.id;
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    // A job may change an object at the provider and end before the jobs are read, while the event of it is delivered.
    const known = newest();
    await deliveries.settled({ retries: true });
    // Asked before and after the jobs: a sync may enqueue a job, and a job may request a sync.
    const wasIdle = app.syncs.isIdle();
    const open = await app.sql<{ name: JobName; waits: boolean }[]>`
      select name, bool_or(state < 'active') as waits from pgboss.job
      where name in ('payment-sync', 'payment-contact', 'payment-checkouts', 'payment-prices', 'payment-portal', 'payment-owner', 'payment-card')
        and state < 'completed'
      group by name`;
    const isIdle = open.length === 0 && wasIdle && app.syncs.isIdle();
    if (isIdle && newest() === known) return;
    if (isIdle) continue;
    for (const { name, waits } of open) if (waits) app.jobs.wake(name);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('The payment jobs did not end.');
}

type OfOrganisation = { organisationId: string };

/**
 * Creates an approved organisation with one member of the given role, by inserting rows, and returns
 * the member's principal with the authority of the role.
 */
export function makeMember(test: TestApp, role?: 'owner' | 'admin'): Promise<Administrator & OfOrganisation>;
export function makeMember(test: TestApp, role: Role): Promise<Reader & OfOrganisation>;
export async function makeMember({ app }: TestApp, role: Role = 'owner'): Promise<Reader & OfOrganisation> {
  const now = app.now();
  const [userId, organisationId] = [newId(now), newId(now)];
  const organisation = { id: organisationId, slug: `o-${organisationId}`, name: 'Company' };
  const user = { id: userId, email: `${userId}@company.example`, name: null, operator: false, onboardedAt: null };

  await app.db.transaction(async (tx) => {
    await tx.insert(organisations).values({ ...organisation, approval: 'approved', createdAt: now });
    await tx.insert(users).values({ ...user, emailVerifiedAt: now, createdAt: now });
    await tx.insert(memberships).values({ userId, organisationId, role, createdAt: now });
    await recordJoined(tx, now, { organisationId, userId });
  });
  const principal = principalOf({ user, organisation, role, accountStatus: 'active', sessionId: newId(now) });
  const scope = role === 'owner' || role === 'admin' ? 'ADMIN' : 'READ';
  return { ...requireScope(principal, scope), organisationId };
}

/** Returns the objects of an organisation at the provider. */
export function ownedBy({ sandbox }: TestApp, { organisationId }: Pick<UserPrincipal, 'organisationId'>) {
  const { customers, subscriptions, checkout_sessions, invoices } = sandbox.payment.state();
  const own = Object.values(customers).filter(({ metadata }) => metadata.organisation === organisationId);
  function ofThem<Each extends { customer?: unknown }>(shelf: Record<string, Each>): Each[] {
    return Object.values(shelf).filter((each) => own.some(({ id }) => id === each.customer));
  }
  return {
    customers: own,
    subscriptions: ofThem(subscriptions),
    sessions: ofThem(checkout_sessions),
    invoices: ofThem(invoices),
  };
}

/** Creates the owner of an organisation that has paid for a tier. All events are delivered and synced. */
export async function makeSubscriber(test: BillingTest, tier = 'silver') {
  const principal = await makeMember(test);
  test.sandbox.payment.payCheckout((await startCheckout(test.app, principal, { tier })).url);
  await test.settled();
  const [subscription] = ownedBy(test, principal).subscriptions;
  if (subscription === undefined) throw new Error('The checkout made no subscription.');
  return { principal, subscription };
}

/**
 * Creates a second subscription of a customer at the provider, as an employee of the company could
 * do there.
 */
export async function makeSecond({ app, sandbox }: TestApp, customer: unknown, tier: 'silver' | 'gold') {
  const method = Object.values(sandbox.payment.state().payment_methods).find((each) => each.customer === customer)?.id;
  const items = [{ price: priceOf({ sandbox }, tier) }];
  return requirePayment(app).ask((provider) =>
    provider.subscriptions.create({ customer: String(customer), items, default_payment_method: method ?? '' }),
  );
}

/** The App with more patience for a lease: fifty requests in turn take longer than 20 s on a slow machine. */
export function withPatience(app: BillingApp): BillingApp {
  return {
    ...app,
    config: { ...app.config, timeouts: { ...app.config.timeouts, leaseSeconds: 100, actionSeconds: 100 } },
  };
}

/** Creates another subscription of a customer at the provider, which awaits its first payment. */
export function makeIncomplete({ app, sandbox }: TestApp, customer: unknown, tier: 'silver' | 'gold' = 'gold') {
  const items = [{ price: priceOf({ sandbox }, tier) }];
  return requirePayment(app).ask((provider) =>
    provider.subscriptions.create({
      customer: String(customer),
      items,
      payment_behavior: 'default_incomplete',
    }),
  );
}

/** Returns the id of a tier's monthly price; '' without one. */
export function priceOf({ sandbox }: Pick<TestApp, 'sandbox'>, tier: string): string {
  const prices = Object.values(sandbox.payment.state().prices);
  return prices.find(({ lookup_key }) => lookup_key === `${tier}_monthly`)?.id ?? '';
}

/** The same deployment with other configured prices. */
export async function withPrices<Some extends App>(app: Some, prices: Config['prices']): Promise<Some> {
  const config = { ...app.config, prices };
  return { ...app, config, plans: await loadPlans(config) };
}
