import fc from 'fast-check';
import { requirePayment } from '../../billing/actions/require-payment.ts';
import type { TestApp } from '../app.ts';
import { priceOf } from '../billing.ts';

/** A change of a subscription that is made at the provider, not through the service. */
export type ProviderAct =
  | 'cancel'
  | 'resume'
  | 'gold'
  | 'silver'
  | 'past_due'
  | 'active'
  | 'unpaid'
  | 'paused'
  | 'on_holiday'
  | 'end'
  | 'later'
  | 'a renewal fails'
  | Request;

type Request = (typeof requests)[number];

/** Requests that the company itself can send to the provider. */
const requests = ['pause', 'run again', 'schedule', 'plan silver', 'a year', 'release'] as const;

export const providerAct = fc.constantFrom<ProviderAct>(
  'cancel',
  'resume',
  'gold',
  'silver',
  'past_due',
  'active',
  'unpaid',
  'paused',
  'on_holiday',
  'later',
  'later',
  'end',
  'a renewal fails',
  ...requests,
);

/**
 * Carries out changes at the provider by its pages, its API and its clock. A change that the
 * provider refuses is skipped.
 */
export async function carryOut(test: TestApp, portal: string, id: string, acts: ProviderAct[]): Promise<void> {
  const { state } = test.sandbox.payment;
  for (const each of acts) {
    if (state().subscriptions[id]?.status === 'canceled') return;
    await carryOutOne(test, portal, id, each).catch(() => {});
  }
}

async function carryOutOne(test: TestApp, portal: string, id: string, act: ProviderAct): Promise<void> {
  const { portal: enter, forceStatus, clock } = test.sandbox.payment;
  if (act === 'cancel') enter(portal).cancel(id);
  else if (act === 'resume') enter(portal).resume(id);
  else if (act === 'gold' || act === 'silver') enter(portal).changePlan(id, priceOf(test, act));
  else if (act === 'later') clock.advance({ seconds: 1 });
  else if (act === 'a renewal fails') failRenewal(test, id);
  else if (isRequest(act)) await request(test, id, act);
  else forceStatus(id, act === 'end' ? 'canceled' : act);
}

function failRenewal({ sandbox: { payment } }: TestApp, id: string): void {
  const customer = String(payment.state().subscriptions[id]?.customer);
  payment.setCard(customer, '4000000000000341');
  payment.clock.advanceToPeriodEnd(id);
  payment.setCard(customer, '4242424242424242');
}

function isRequest(act: ProviderAct): act is Request {
  return requests.some((name) => name === act);
}

async function request({ app, sandbox }: TestApp, id: string, act: Request): Promise<void> {
  const { ask } = requirePayment(app);
  const schedule = sandbox.payment.state().subscriptions[id]?.schedule;
  if (act === 'pause') await ask((api) => api.subscriptions.pause(id));
  if (act === 'schedule') await ask((api) => api.subscriptionSchedules.create({ from_subscription: id }));
  if (act === 'plan silver') sandbox.payment.scheduleChange(id, priceOf({ sandbox }, 'silver'));
  if (act === 'a year') await payYearly({ app, sandbox }, id);
  if (act === 'release' && schedule) await ask((api) => api.subscriptionSchedules.release(schedule));
  if (act === 'run again') {
    await ask((api) => api.subscriptions.resume(id, { payment_behavior: 'resume_on_payment_success' }));
  }
}

/** Changes the subscription to its plan's price for a year, which is made with the first such change. */
async function payYearly({ app, sandbox }: Pick<TestApp, 'app' | 'sandbox'>, id: string): Promise<void> {
  const { ask } = requirePayment(app);
  const { prices, subscriptions } = sandbox.payment.state();
  const item = subscriptions[id]?.items.data[0];
  if (item === undefined) return;
  const { product, currency, unit_amount } = item.price;
  const known = Object.values(prices).find((one) => one.product === product && one.recurring?.interval === 'year');
  const yearly =
    known ??
    (await ask((api) =>
      api.prices.create({
        product,
        currency,
        unit_amount: 10 * (unit_amount ?? 0),
        recurring: { interval: 'year' },
      }),
    ));
  await ask((api) => api.subscriptions.update(id, { items: [{ id: item.id, price: yearly.id }] }));
}
