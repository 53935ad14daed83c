import type Stripe from 'stripe';
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { PaymentSandbox } from '../start-payment-sandbox.ts';
import { sdk, startTestSandbox } from '../testing.ts';
import { sdkTypes } from '../type-check/sdk-types.ts';
import { startTypeCheck, type TypeCheck } from '../type-check/type-check.ts';
import { expectUnbrokenHistory } from './event-history.ts';

export const silver = 'price_sandbox_silver_monthly';
export const gold = 'price_sandbox_gold_monthly';
/** A card that can be saved, and is declined at each later charge. */
export const declinesLater = '4000000000000341';

interface CheckedSandbox {
  sandbox: PaymentSandbox;
  stripe: Stripe;
  /** Creates a customer and buys the price `silver` for it. */
  buy(): Promise<Stripe.Subscription>;
  checkout(customer: string): Promise<Stripe.Checkout.Session>;
  statusOf(subscription: string): Promise<string>;
  /** The types of the events about an object, oldest first. */
  typesOf(id: string): string[];
}

/**
 * Gives each test of a file its own sandbox. After each test, all answers and events must
 * agree with the SDK's types, and the events of each subscription must form a whole history.
 */
export function useCheckedSandbox(): CheckedSandbox {
  let typeCheck: TypeCheck;
  const setup = { buy, checkout, statusOf, typesOf } as CheckedSandbox;

  beforeAll(() => void sdkTypes(), 60_000);
  beforeEach(async () => {
    typeCheck = startTypeCheck();
    setup.sandbox = await startTestSandbox();
    setup.stripe = sdk(setup.sandbox, { httpClient: typeCheck.httpClient });
  });
  afterEach(async () => {
    const events = setup.sandbox.payment.events();
    await setup.sandbox.close();
    expectUnbrokenHistory(events);
    typeCheck.read(events);
    expect(typeCheck.found()).toEqual([]);
  });
  return setup;

  async function buy(): Promise<Stripe.Subscription> {
    const customer = await setup.stripe.customers.create({});
    const session = await checkout(customer.id);
    expect(setup.sandbox.payment.payCheckout(session.id)).toMatchObject({ paid: true });
    return (await setup.stripe.subscriptions.list({ customer: customer.id })).data[0] as Stripe.Subscription;
  }

  function checkout(customer: string): Promise<Stripe.Checkout.Session> {
    return setup.stripe.checkout.sessions.create({
      mode: 'subscription',
      customer,
      line_items: [{ price: silver, quantity: 1 }],
      success_url: 'http://localhost:3000/billing?checkout=success',
    });
  }

  async function statusOf(subscription: string): Promise<string> {
    return (await setup.stripe.subscriptions.retrieve(subscription)).status;
  }

  function typesOf(id: string): string[] {
    const events = setup.sandbox.payment.events();
    return events.filter(({ data }) => (data.object as { id: string }).id === id).map(({ type }) => type);
  }
}

/** Posts a form of a hosted page, without following the redirect. */
export function postForm(url: string, fields: Record<string, string>): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
}
