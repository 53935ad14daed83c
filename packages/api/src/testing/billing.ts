import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { requirePayment } from '../billing/actions/require-payment.ts';
import { startCheckout } from '../billing/actions/start-checkout.ts';
import { receiveEvent } from '../billing/events/receive-event.ts';
import { newId } from '../db/id.ts';
import { users } from '../db/schema/accounts.ts';
import { memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import { errorCodes, isAppError } from '../errors.ts';
import { makePrincipal, type Principal, type Role } from '../sessions/principal.ts';
import { startTestApp, type TestApp } from './app.ts';

export type BillingTest = TestApp & {
  /** Events are delivered and every job that they caused is done. */
  settled: () => Promise<void>;
  /** What becomes of deliveries from now on, each asked about when it comes. */
  deliveriesAre: (fate: () => DeliveryResult) => void;
};

/** Refused before anything was done, or done and only the answer lost: the provider tries again after both. */
export type DeliveryResult = 'answered' | 'refused' | 'done without an answer';

/** The App on the sandbox, whose signed events come in through a real request. */
export async function startBillingTest(options: Parameters<typeof startTestApp>[0] = {}): Promise<BillingTest> {
  const test = await startTestApp(options);
  let fate: () => DeliveryResult = () => 'answered';
  const server = createServer(async (request, response) => {
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part);
    const ends = fate();
    if (ends === 'refused') return void response.writeHead(500).end();
    const signature = String(request.headers['payment-signature'] ?? '');
    const answer = await receiveEvent(test.app, { body: Buffer.concat(parts), signature }).then(
      (body) => ({ status: 200, body: body as object }),
      (error: unknown) => ({
        status: isAppError(error) ? errorCodes[error.code].status : 500,
        body: { error: String(error) },
      }),
    );
    if (ends === 'done without an answer') return void response.writeHead(500).end();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.sandbox.payment.setWebhookUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  test.sandbox.payment.set({ retry_first_ms: 100 });

  return {
    ...test,
    deliveriesAre(next) {
      fate = next;
    },
    async settled() {
      await test.sandbox.payment.deliveries.settled({ retries: true });
      await jobsDone(test);
    },
    async close() {
      test.sandbox.payment.setWebhookUrl(null);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await test.close();
    },
  };
}

async function jobsDone({ app }: TestApp): Promise<void> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const [waiting] = await app.sql`
      select count(*)::int as count from pgboss.job where name in ('payment-sync', 'payment-contact', 'payment-prices', 'payment-portal') and state < 'completed'`;
    if (waiting?.count === 0) return;
    app.jobs.wake('payment-sync');
    app.jobs.wake('payment-contact');
    app.jobs.wake('payment-prices');
    app.jobs.wake('payment-portal');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('The payment jobs did not come to an end.');
}

/** Somebody of a new, approved organisation. */
export async function makeMember(
  { app }: TestApp,
  role: Role = 'owner',
): Promise<Principal & { organisationId: string }> {
  const now = app.now();
  const [userId, organisationId] = [newId(now), newId(now)];
  const organisation = { id: organisationId, slug: `o-${organisationId}`, name: 'Company' };
  const user = { id: userId, email: `${userId}@company.example`, name: null, operator: false, onboardedAt: null };

  await app.db.insert(organisations).values({ ...organisation, approval: 'approved', createdAt: now });
  await app.db.insert(users).values({ ...user, emailVerifiedAt: now, createdAt: now });
  await app.db.insert(memberships).values({ userId, organisationId, role, createdAt: now });
  const principal = makePrincipal({ user, organisation, role, gate: 'open', sessionId: newId(now) });
  return { ...principal, organisationId };
}

/** What the provider has of an organisation. */
export function ownedBy({ sandbox }: TestApp, { organisationId }: Principal) {
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

/** The administrator of an organisation that has paid for a tier, with everything told and synced. */
export async function makeSubscriber(test: BillingTest, tier = 'silver') {
  const principal = await makeMember(test);
  test.sandbox.payment.payCheckout((await startCheckout(test.app, principal, { tier })).url);
  await test.settled();
  const [subscription] = ownedBy(test, principal).subscriptions;
  if (subscription === undefined) throw new Error('The checkout made no subscription.');
  return { principal, subscription };
}

/** A second subscription of a customer, as somebody could make it at the provider by hand. */
export async function makeSecond({ app, sandbox }: TestApp, customer: unknown, tier: 'silver' | 'gold') {
  const price = Object.values(sandbox.payment.state().prices).find(
    ({ lookup_key }) => lookup_key === `${tier}_monthly`,
  );
  const method = Object.values(sandbox.payment.state().payment_methods).find((each) => each.customer === customer)?.id;
  return requirePayment(app).ask((provider) =>
    provider.subscriptions.create({
      customer: String(customer),
      items: [{ price: price?.id ?? '' }],
      default_payment_method: method ?? '',
    }),
  );
}
