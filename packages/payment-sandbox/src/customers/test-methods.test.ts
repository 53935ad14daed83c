import type Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { declinesLater, gold, postForm, silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();
const authenticates = '4000002760003184';
const planChangeDeclines = '4000000007007000';

describe('the card that can be saved and declines each charge', () => {
  test('cannot pay a checkout, nor an invoice on its page', async () => {
    const { id: customer } = await setup.stripe.customers.create({});
    const session = await setup.checkout(customer);
    expect(setup.sandbox.payment.payCheckout(session.id, declinesLater)).toMatchObject({ paid: false });
    expect((await setup.stripe.subscriptions.list({ customer })).data).toEqual([]);

    const bought = await setup.buy();
    setup.sandbox.payment.setCard(bought.customer as string, declinesLater);
    setup.sandbox.payment.clock.advanceToPeriodEnd(bought.id);
    const invoice = (await setup.stripe.subscriptions.retrieve(bought.id)).latest_invoice as string;
    expect(setup.sandbox.payment.payInvoice(invoice, declinesLater)).toContain('declined');
  });

  test('can be saved by a checkout with a trial, whose end it cannot pay', async () => {
    const session = await setup.stripe.checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price: silver, quantity: 1 }],
      subscription_data: { trial_period_days: 7 },
      success_url: 'http://localhost:3000/billing',
    });
    expect(setup.sandbox.payment.payCheckout(session.id, declinesLater)).toMatchObject({ paid: true });
    const { subscription } = await setup.stripe.checkout.sessions.retrieve(session.id);
    expect(await setup.statusOf(subscription as string)).toBe('trialing');
    setup.sandbox.payment.clock.advance({ days: 7, hours: 1 });
    expect(await setup.statusOf(subscription as string)).toBe('past_due');
  });
});

describe('the card that declines the charge of a plan change', () => {
  test('pays checkout and renewal, and its plan change in the portal changes nothing', async () => {
    const { id: customer } = await setup.stripe.customers.create({});
    setup.sandbox.payment.payCheckout((await setup.checkout(customer)).id, planChangeDeclines);
    const [bought] = (await setup.stripe.subscriptions.list({ customer })).data;
    const id = bought?.id as string;
    setup.sandbox.payment.clock.advanceToPeriodEnd(id);
    expect(await setup.statusOf(id)).toBe('active');

    const { url } = await openPortal(customer);
    expect((await postForm(url, { act: 'plan', subscription: id, price: gold })).status).toBe(402);
    expect((await setup.stripe.subscriptions.retrieve(id)).items.data[0]?.price.id).toBe(silver);
    expect((await setup.stripe.invoices.list({ subscription: id, status: 'open' })).data).toEqual([]);
  });

  test('makes the subscription past due where the API changes the plan whatever the payment', async () => {
    const { id: customer } = await setup.stripe.customers.create({});
    setup.sandbox.payment.payCheckout((await setup.checkout(customer)).id, planChangeDeclines);
    const [bought] = (await setup.stripe.subscriptions.list({ customer })).data;
    const changed = await setup.stripe.subscriptions.update(bought?.id as string, {
      items: [{ id: bought?.items.data[0]?.id as string, price: gold }],
      proration_behavior: 'always_invoice',
    });
    expect(changed).toMatchObject({ status: 'past_due', items: { data: [{ price: { id: gold } }] } });
  });
});

describe('the card that requires authentication', () => {
  const ways = ['complete', 'fail'] as const;

  test.each(ways)('leads from the checkout to the page of the bank: %s', async (authentication) => {
    const { id: customer } = await setup.stripe.customers.create({});
    const session = await setup.checkout(customer);
    const url = session.url as string;
    const asked = await postForm(url, { card: authenticates });
    expect([asked.status, await asked.text()]).toEqual([200, expect.stringContaining('Sandbox bank')]);
    expect((await setup.stripe.checkout.sessions.retrieve(session.id)).status).toBe('open');

    const answered = await postForm(url, { card: authenticates, authentication });
    const paid = authentication === 'complete';
    expect(answered.status).toBe(paid ? 303 : 402);
    if (!paid) expect(await answered.text()).toContain('unable to authenticate');
    expect((await setup.stripe.subscriptions.list({ customer })).data).toHaveLength(paid ? 1 : 0);
  });

  test.each(ways)('leads from an invoice to the page of the bank: %s', async (authentication) => {
    const bought = await setup.buy();
    setup.sandbox.payment.setCard(bought.customer as string, authenticates);
    setup.sandbox.payment.clock.advanceToPeriodEnd(bought.id);
    const { latest_invoice } = await setup.stripe.subscriptions.retrieve(bought.id, { expand: ['latest_invoice'] });
    const url = (latest_invoice as Stripe.Invoice).hosted_invoice_url as string;
    expect(await (await postForm(url, { card: authenticates })).text()).toContain('Sandbox bank');
    expect(await setup.statusOf(bought.id)).toBe('past_due');
    await postForm(url, { card: authenticates, authentication });
    expect(await setup.statusOf(bought.id)).toBe(authentication === 'complete' ? 'active' : 'past_due');
  });

  test('leads to the page of the bank when the portal saves it, and when it pays a change of plan', async () => {
    setup.sandbox.payment.set({ portal_card: 'subscriptions' });
    const bought = await setup.buy();
    const { url } = await openPortal(bought.customer as string);
    const save = { act: 'card', card: authenticates };
    expect(await (await postForm(url, save)).text()).toContain('Sandbox bank');
    expect((await postForm(url, { ...save, authentication: 'fail' })).status).toBe(402);
    expect((await postForm(url, { ...save, authentication: 'complete' })).status).toBe(303);

    const plan = { act: 'plan', subscription: bought.id, price: gold };
    expect(await (await postForm(url, plan)).text()).toContain('Sandbox bank');
    expect((await setup.stripe.subscriptions.retrieve(bought.id)).items.data[0]?.price.id).toBe(silver);
    await postForm(url, { ...plan, authentication: 'complete' });
    expect((await setup.stripe.subscriptions.retrieve(bought.id)).items.data[0]?.price.id).toBe(gold);
  });

  test('cannot be charged by the API, also while the customer is there', async () => {
    const { id: customer } = await setup.stripe.customers.create({ payment_method: 'pm_card_authenticationRequired' });
    const [method] = (await setup.stripe.paymentMethods.list({ customer })).data;
    const { latest_invoice } = await setup.stripe.subscriptions.create({
      customer,
      items: [{ price: silver }],
      default_payment_method: method?.id as string,
    });
    await expect(setup.stripe.invoices.pay(latest_invoice as string, { off_session: false })).rejects.toMatchObject({
      statusCode: 402,
      code: 'invoice_payment_intent_requires_action',
    });
  });
});

/** Opens a portal that charges changes of plan at once. */
async function openPortal(customer: string): Promise<Stripe.BillingPortal.Session> {
  const products = [{ product: 'prod_sandbox_gold', prices: [gold] }];
  const { id: configuration } = await setup.stripe.billingPortal.configurations.create({
    features: {
      payment_method_update: { enabled: true },
      subscription_update: {
        enabled: true,
        default_allowed_updates: ['price'],
        products,
        proration_behavior: 'always_invoice',
      },
    },
  });
  return setup.stripe.billingPortal.sessions.create({ customer, configuration });
}
