import { type APIRequestContext, expect } from '@playwright/test';
import { type Service, sandboxSecrets } from './service.ts';

type Invoice = { id: string; customer: string; status: string; created: number; amount_due: number };

type Subscription = { id: string; customer: string; status: string; schedule: string | null };

/**
 * Reads an organisation's subscriptions at the sandbox's payment provider, and makes the changes to them that time or
 * the provider make.
 */
export type SubscriptionControls = {
  /** Returns all subscriptions that were ever created. */
  subscriptions: () => Promise<Subscription[]>;
  /** Returns the only subscription. */
  subscription: () => Promise<Subscription>;
  everythingDelivered: () => Promise<void>;
  cardDeclinesFromNowOn: () => Promise<void>;
  /** Advances the clock to just after the charge of the renewal. */
  periodEnds: () => Promise<void>;
  dunningEnds: () => Promise<void>;
  /** Returns the invoices, the newest first. */
  invoices: () => Promise<Invoice[]>;
  /** Does with an invoice what the company or a bank does: `refund`, `dispute`, `uncollectible`. Returns what it made. */
  actsOnInvoice: (id: string, act: string, more?: object) => Promise<{ id: string }>;
  /** Ends a dispute: `won` or `lost`. */
  disputeEnds: (id: string, end: string) => Promise<void>;
  /** Schedules a change to a tier's monthly price at the end of the period. */
  schedules: (tier: string) => Promise<void>;
  /** From now on invoices are sent, to be paid within some days, in place of being charged. */
  sendsInvoices: (daysUntilDue: number) => Promise<void>;
  /** Sets the subscription's status and emits the provider's event about it. */
  becomes: (status: string) => Promise<void>;
  /** Emits an event of any type about the customer. */
  emits: (type: string) => Promise<void>;
};

const validCard = '4242424242424242';
const declinesLater = '4000000000000341';
/** The provider retries a failed payment three times, the last time after 15 days. */
const dunningDays = 16;

/** Returns the controls for the signed-in user's organisation. */
export async function subscriptionControls(
  service: Service,
  request: APIRequestContext,
): Promise<SubscriptionControls> {
  const { organisation } = await (await request.get('/api/subscription')).json();

  async function subscriptions(): Promise<Subscription[]> {
    const state = await read(service, 'state');
    const customers = Object.values<{ id: string; metadata: Record<string, string> }>(state.customers);
    const own = customers.filter(({ metadata }) => metadata.organisation === organisation.id).map(({ id }) => id);
    return Object.values<Subscription>(state.subscriptions).filter(({ customer }) => own.includes(customer));
  }

  async function subscription(): Promise<Subscription> {
    const [only] = await subscriptions();
    if (only === undefined) throw new Error(`${organisation.slug} has no subscription.`);
    return only;
  }

  return {
    subscriptions,
    subscription,
    async everythingDelivered() {
      await expect.poll(async () => (await read(service, 'deliveries')).filter(isOpen).length).toBe(0);
    },
    async cardDeclinesFromNowOn() {
      await control(service, 'card', { customer: (await subscription()).customer, card: declinesLater });
    },
    async periodEnds() {
      await control(service, 'clock', { to: 'period_end', subscription: (await subscription()).id });
    },
    async dunningEnds() {
      await control(service, 'clock', { days: dunningDays });
    },
    async invoices() {
      const { customer } = await subscription();
      const all = Object.values<Invoice>((await read(service, 'state')).invoices);
      return all.filter((each) => each.customer === customer).toSorted((one, other) => other.created - one.created);
    },
    actsOnInvoice: (invoice, act, more = {}) => control(service, 'invoice', { invoice, act, ...more }),
    async disputeEnds(dispute, act) {
      await control(service, 'dispute', { dispute, act });
    },
    async schedules(tier) {
      const prices = Object.values<{ id: string; lookup_key: string }>((await read(service, 'state')).prices);
      const price = prices.find(({ lookup_key }) => lookup_key === `${tier}_monthly`)?.id;
      await control(service, 'subscription', { subscription: (await subscription()).id, act: 'schedule', price });
    },
    async sendsInvoices(daysUntilDue) {
      const { id } = await subscription();
      await control(service, 'subscription', {
        subscription: id,
        act: 'send_invoices',
        days_until_due: daysUntilDue,
      });
    },
    async becomes(status) {
      await control(service, 'status', { subscription: (await subscription()).id, status });
    },
    async emits(type) {
      const { customer } = await subscription();
      await control(service, 'emit', { type, object: { id: 'emitted', customer } });
    },
  };
}

/** Buys a plan for the signed-in user's organisation, by requests: a checkout that is paid by a card, and its event. */
export async function buyPlan(service: Service, request: APIRequestContext, tier: string): Promise<void> {
  const checkout = await request.post('/api/billing/checkout', { data: { tier } });
  const { url } = await checkout.json();
  const card = new URLSearchParams({ card: validCard });
  const paid = await fetch(url, { method: 'POST', body: card, redirect: 'manual' });
  expect(paid.headers.get('location')).toContain(`${service.baseUrl}/billing?checkout=success`);
  await expect.poll(async () => (await (await request.get('/api/subscription')).json()).plan.tier).toBe(tier);
}

/** Sets switches of the payment provider's sandbox; null resets them all. */
export async function turnSwitches(service: Service, switches: Record<string, unknown> | null): Promise<void> {
  if (switches === null) await control(service, 'switches/reset', {});
  else await control(service, 'switches', switches);
}

/** Makes a promotion code that takes a part off every invoice of a year, as the company does in the dashboard. */
export async function offerCode(service: Service, code: string, percent: number): Promise<void> {
  const repeating = { percent_off: String(percent), duration: 'repeating', duration_in_months: '12' };
  const { id } = await create(service, 'coupons', repeating);
  await create(service, 'promotion_codes', { code, 'promotion[type]': 'coupon', 'promotion[coupon]': id });
}

/** Registers the company for tax in a country: its invoices there then have 20 % of it. */
export async function registerForTax(service: Service, country: string): Promise<void> {
  await control(service, 'tax', { country });
}

/**
 * Makes the payment provider hold back its events and not answer requests about subscriptions.
 * Returns a function that ends both.
 */
export async function holdPaymentsBack(service: Service): Promise<() => Promise<void>> {
  const silent = { api_failure: 503, api_failure_only: 'GET /v1/subscriptions' };
  await turnSwitches(service, { drop_deliveries: true, ...silent });
  return async () => {
    await turnSwitches(service, null);
    await control(service, 'deliveries/send-dropped', {});
  };
}

async function create(service: Service, what: string, fields: Record<string, string>): Promise<{ id: string }> {
  const answer = await fetch(`${service.sandboxUrl}/v1/${what}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandboxSecrets.PAYMENT_SECRET_KEY}` },
    body: new URLSearchParams(fields),
  });
  if (!answer.ok) throw new Error(`The sandbox refuses ${what}: ${await answer.text()}`);
  return (await answer.json()) as { id: string };
}

function isOpen({ state }: { state: string }): boolean {
  return state === 'waiting';
}

async function read(service: Service, what: string) {
  return (await fetch(`${service.sandboxUrl}/control/${what}`)).json();
}

async function control(service: Service, what: string, fields: object) {
  const answer = await fetch(`${service.sandboxUrl}/control/${what}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  });
  if (!answer.ok) throw new Error(`The sandbox refuses ${what}: ${await answer.text()}`);
  return answer.json();
}
