import type Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { postForm, silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();
const clears = '00012345';
const bounces = '33333335';

describe('a checkout that is paid by bank debit', () => {
  async function bought(account: string) {
    const { id: customer } = await setup.stripe.customers.create({});
    const session = await setup.checkout(customer);
    expect((await postForm(session.url as string, { card: account })).status).toBe(303);
    const read = () => setup.stripe.checkout.sessions.retrieve(session.id, { expand: ['subscription.latest_invoice'] });
    return { customer, read };
  }

  test('makes the subscription active at once, and completes with the payment under way', async () => {
    const { read } = await bought(clears);
    expect(await read()).toMatchObject({
      status: 'complete',
      payment_status: 'unpaid',
      subscription: { status: 'active', latest_invoice: { status: 'open', attempted: true } },
    });
  });

  test('is paid when the debit clears', async () => {
    const { read } = await bought(clears);
    setup.sandbox.payment.clock.advance({ days: 5 });
    const session = await read();
    expect(session).toMatchObject({
      payment_status: 'paid',
      subscription: { status: 'active', latest_invoice: { status: 'paid' } },
    });
    expect(setup.typesOf(session.id)).toEqual([
      'checkout.session.completed',
      'checkout.session.async_payment_succeeded',
    ]);
  });

  test('whose debit bounces has a void invoice, and its subscription stays active', async () => {
    const { customer, read } = await bought(bounces);
    setup.sandbox.payment.clock.advance({ days: 5 });
    const session = await read();
    expect(session).toMatchObject({
      payment_status: 'unpaid',
      subscription: {
        status: 'active',
        latest_invoice: { status: 'void', billing_reason: 'subscription_create', amount_paid: 0 },
      },
    });
    expect(setup.typesOf(session.id).at(-1)).toBe('checkout.session.async_payment_failed');
    const [invoice] = (await setup.stripe.invoices.list({ customer })).data;
    expect(setup.typesOf(invoice?.id as string).slice(-2)).toEqual(['invoice.payment_failed', 'invoice.voided']);
  });
});

describe('allowed_payment_method_types', () => {
  const open = (allowed_payment_method_types?: Stripe.Checkout.SessionCreateParams.AllowedPaymentMethodType[]) =>
    setup.stripe.checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price: silver, quantity: 1 }],
      success_url: 'http://localhost:3000/billing',
      ...(allowed_payment_method_types && { allowed_payment_method_types }),
    });

  test('filters what the account accepts in the currency of the session', async () => {
    expect((await open()).payment_method_types).toEqual(['card', 'bacs_debit']);
    const cardsOnly = await open(['card', 'link', 'sepa_debit']);
    expect(cardsOnly).toMatchObject({
      payment_method_types: ['card'],
      allowed_payment_method_types: ['card', 'link', 'sepa_debit'],
    });
    const page = await (await fetch(cardsOnly.url as string)).text();
    expect([page.includes(clears), page.includes('4242')]).toEqual([false, true]);
    expect(setup.sandbox.payment.payCheckout(cardsOnly.id, clears)).toMatchObject({ paid: false });
    await expect(open(['sepa_debit'])).rejects.toMatchObject({ param: 'allowed_payment_method_types' });
  });

  test('leaves later invoices open to every method', async () => {
    const session = await open(['card']);
    setup.sandbox.payment.payCheckout(session.id);
    const { subscription } = await setup.stripe.checkout.sessions.retrieve(session.id);
    const { customer } = await setup.stripe.subscriptions.retrieve(subscription as string);
    setup.sandbox.payment.setCard(customer as string, clears);
    setup.sandbox.payment.clock.advanceToPeriodEnd(subscription as string);
    const [renewal] = (await setup.stripe.invoices.list({ subscription: subscription as string })).data;
    expect(renewal).toMatchObject({ status: 'open', attempted: true });
    expect(await setup.statusOf(subscription as string)).toBe('active');
  });
});

test('SEPA debits pay in euros', async () => {
  const price = await setup.stripe.prices.create({
    product: 'prod_sandbox_silver',
    currency: 'eur',
    unit_amount: 2400,
    recurring: { interval: 'month' },
  });
  const session = await setup.stripe.checkout.sessions.create({
    mode: 'subscription',
    line_items: [{ price: price.id, quantity: 1 }],
    success_url: 'http://localhost:3000/billing',
    expand: ['line_items'],
  });
  expect(session.payment_method_types).toEqual(['card', 'sepa_debit']);
  expect(setup.sandbox.payment.payCheckout(session.id, bounces)).toMatchObject({ paid: false });
  expect(setup.sandbox.payment.payCheckout(session.id, 'DE89 3704 0044 0532 0130 00')).toMatchObject({ paid: true });
  const { subscription } = await setup.stripe.checkout.sessions.retrieve(session.id);
  const { default_payment_method: method } = await setup.stripe.subscriptions.retrieve(subscription as string, {
    expand: ['default_payment_method'],
  });
  expect(method).toMatchObject({ type: 'sepa_debit', sepa_debit: { last4: '3000', country: 'DE' } });
});

test('a renewal whose debit bounces is past due, and is retried as one with a card', async () => {
  const { id, customer } = await setup.buy();
  setup.sandbox.payment.setCard(customer as string, bounces);
  setup.sandbox.payment.clock.advanceToPeriodEnd(id);
  const [renewal] = (await setup.stripe.invoices.list({ subscription: id })).data;
  await expect(setup.stripe.invoices.pay(renewal?.id as string)).rejects.toMatchObject({ statusCode: 400 });
  await expect(setup.stripe.invoices.voidInvoice(renewal?.id as string)).rejects.toMatchObject({ statusCode: 400 });
  setup.sandbox.payment.clock.advance({ days: 5 });
  expect(await setup.statusOf(id)).toBe('past_due');
  expect((await setup.stripe.invoices.retrieve(renewal?.id as string)).next_payment_attempt).not.toBeNull();
  expect(setup.sandbox.payment.payInvoice(renewal?.id as string)).toBeNull();
  expect(await setup.statusOf(id)).toBe('active');
});

test('a bank account is saved in the portal, and its page says which one is charged', async () => {
  const { customer } = await setup.buy();
  const { url } = await setup.stripe.billingPortal.sessions.create({ customer: customer as string });
  expect((await postForm(url, { act: 'card', card: clears })).status).toBe(303);
  expect(await (await fetch(url)).text()).toContain('The default is a bank account that ends in 2345');
  expect((await postForm(url, { act: 'card', card: 'DE89370400440532013000' })).status).toBe(402);
});
