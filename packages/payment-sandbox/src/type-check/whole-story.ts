import Stripe from 'stripe';
import type { PaymentSandbox as Sandbox } from '../start-payment-sandbox.ts';
import { refundsAndDisputes } from './refunds-and-disputes.ts';

const silver = 'price_sandbox_silver_monthly';
const gold = 'price_sandbox_gold_monthly';
const declinesLater = '4000000000000341';
const requiresActionLater = '4000002760003184';

/** Requests each resource at least once: plain, expanded, listed, changed and deleted. */
export async function everyResource(stripe: Stripe, serviceUrl: string, payment: Sandbox['payment']): Promise<void> {
  const product = await stripe.products.create({ name: 'Copper', metadata: { made: 'here' }, unit_label: 'seat' });
  const price = await stripe.prices.create({
    product: product.id,
    currency: 'jpy',
    unit_amount_decimal: Stripe.Decimal.from('1000.5'),
    lookup_key: 'copper',
    recurring: { interval: 'year' },
    expand: ['product'],
  });
  await stripe.prices.create({ product_data: { name: 'Once' }, currency: 'gbp', unit_amount: 100 });
  await stripe.prices.update(price.id, { nickname: 'Copper', lookup_key: 'copper_2' });
  await stripe.prices.retrieve(price.id, { expand: ['product'] });
  await stripe.prices.list({ lookup_keys: ['copper_2'], expand: ['data.product'] });
  await stripe.products.update(product.id, { description: 'A plan.', default_price: price.id });
  await stripe.products.list({});
  await stripe.products.retrieve(product.id, { expand: ['default_price'] });
  await stripe.products.del((await stripe.products.create({ name: 'Gone' })).id);

  await stripe.tax.settings.retrieve();
  payment.registerForTax('GB');
  await stripe.tax.registrations.list();
  const coupon = await stripe.coupons.create({ percent_off: 25, duration: 'repeating', duration_in_months: 3 });
  await stripe.coupons.retrieve(coupon.id);
  await stripe.coupons.list({});
  const code = await stripe.promotionCodes.create({ promotion: { type: 'coupon', coupon: coupon.id }, code: 'LATER' });
  await stripe.promotionCodes.update(code.id, { active: false });
  await stripe.promotionCodes.retrieve(code.id, { expand: ['promotion.coupon'] });
  await stripe.promotionCodes.list({ code: 'later' });

  const endpoint = await stripe.webhookEndpoints.create({ url: `${serviceUrl}/x`, enabled_events: ['price.created'] });
  await stripe.webhookEndpoints.update(endpoint.id, { description: 'Prices', disabled: true });
  await stripe.webhookEndpoints.retrieve(endpoint.id);
  await stripe.webhookEndpoints.list();
  await stripe.v2.core.eventDestinations.list({ include: ['webhook_endpoint.url'] });
  await stripe.webhookEndpoints.del(endpoint.id);

  const configuration = await stripe.billingPortal.configurations.create({
    name: 'Everything',
    business_profile: { headline: 'Everything' },
    features: {
      customer_update: { enabled: true, allowed_updates: ['email'] },
      invoice_history: { enabled: true },
      payment_method_update: { enabled: true },
      subscription_cancel: {
        enabled: true,
        mode: 'immediately',
        cancellation_reason: { enabled: true, options: ['other'] },
      },
      subscription_update: {
        enabled: true,
        default_allowed_updates: ['price', 'quantity'],
        products: [
          {
            product: 'prod_sandbox_gold',
            prices: [gold],
            adjustable_quantity: { enabled: true, minimum: 1, maximum: 5 },
          },
        ],
      },
    },
  });
  await stripe.billingPortal.configurations.update(configuration.id, { metadata: { seen: 'yes' } });
  await stripe.billingPortal.configurations.retrieve(configuration.id);
  await stripe.billingPortal.configurations.list({});

  const clock = await stripe.testHelpers.testClocks.create({ frozen_time: 1_900_000_000 });
  const clocked = await stripe.customers.create({ test_clock: clock.id, expand: ['test_clock'] });
  await stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: 1_900_000_100 });
  await stripe.testHelpers.testClocks.retrieve(clock.id);
  await stripe.testHelpers.testClocks.list({});
  await stripe.testHelpers.testClocks.del(clock.id);
  await stripe.customers.retrieve(clocked.id);
}

/**
 * Runs a customer from creation to the last invoice, with a card that pays, one that declines and one
 * that requires authentication.
 */
export async function wholeLife(stripe: Stripe, sandbox: Sandbox): Promise<void> {
  const { payment } = sandbox;
  const customer = await stripe.customers.create({ email: 'pays@company.example', metadata: { organisation: '1' } });
  await stripe.customers.update(customer.id, { name: 'Company', phone: '1', description: 'A company' });
  const session = await openCheckout(stripe, customer.id);
  await stripe.checkout.sessions.expire((await openCheckout(stripe, customer.id)).id);
  payment.payCheckout(session.url as string);
  await stripe.checkout.sessions.retrieve(session.id, { expand: ['subscription.latest_invoice', 'line_items'] });
  await stripe.checkout.sessions.listLineItems(session.id);
  await stripe.checkout.sessions.list({ customer: customer.id });
  const [bought] = (await stripe.subscriptions.list({ customer: customer.id, expand: ['data.customer'] })).data;
  const id = bought?.id as string;
  const item = bought?.items.data[0]?.id as string;

  await everyFlow(stripe, customer.id, id, item);
  const portal = await stripe.billingPortal.sessions.create({ customer: customer.id, expand: ['configuration'] });
  const visit = payment.portal(portal.id);
  visit.cancel(id);
  visit.resume(id);
  visit.changePlan(id, gold);
  visit.changeCard(requiresActionLater);
  await stripe.subscriptions.update(id, { cancel_at_period_end: true, description: 'Ends', metadata: { a: 'b' } });
  await stripe.subscriptions.update(id, { cancel_at_period_end: false });
  await stripe.subscriptionItems.update(item, { price: silver });
  await stripe.subscriptionItems.retrieve(item, { expand: ['price.product'] });
  const added = await stripe.subscriptionItems.create({ subscription: id, price: gold });
  await stripe.subscriptionItems.list({ subscription: id });
  await stripe.subscriptionItems.del(added.id);
  payment.clock.advanceToPeriodEnd(id);
  await renewals(stripe, sandbox, customer.id, id);
  await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice', 'default_payment_method', 'customer'] });

  await trials(stripe, sandbox);
  await refundsAndDisputes(stripe, sandbox);
  await pausesAndSchedules(stripe);
  await stripe.paymentMethods.list({ customer: customer.id });
  await stripe.customers.list({ email: 'pays@company.example', expand: ['data.subscriptions'] });
  await stripe.customers.del(customer.id);
  await stripe.subscriptions.list({ status: 'all' });
  const [newest] = (await stripe.events.list({ limit: 100 })).data;
  await stripe.events.retrieve(newest?.id as string);
}

/** Runs a renewal that requires authentication, a declined one that is paid on its page, and one with full dunning. */
async function renewals(stripe: Stripe, { payment }: Sandbox, customer: string, id: string): Promise<void> {
  payment.setCard(customer, requiresActionLater);
  const { items } = await stripe.subscriptions.retrieve(id);
  await stripe.invoices.createPreview({ subscription: id });
  payment.clock.advanceTo(items.data[0]?.current_period_end as number);
  const [draft] = (await stripe.invoices.list({ customer, status: 'draft' })).data;
  await stripe.invoices.finalizeInvoice(draft?.id as string);
  await stripe.invoices.pay(draft?.id as string).catch(() => {});
  payment.payInvoice(draft?.id as string);

  payment.setCard(customer, declinesLater);
  payment.clock.advanceToPeriodEnd(id);
  const [open] = (await stripe.invoices.list({ customer, status: 'open' })).data;
  await stripe.invoices.retrieve(open?.id as string, { expand: ['payments'] });
  payment.payInvoice(open?.id as string);
  payment.clock.advanceToPeriodEnd(id);
  payment.clock.advance({ days: 20 });
}

async function everyFlow(stripe: Stripe, customer: string, subscription: string, item: string): Promise<void> {
  const flows: Stripe.BillingPortal.SessionCreateParams.FlowData[] = [
    {
      type: 'payment_method_update',
      after_completion: { type: 'redirect', redirect: { return_url: 'http://localhost' } },
    },
    { type: 'subscription_cancel', subscription_cancel: { subscription } },
    { type: 'subscription_update', subscription_update: { subscription } },
    {
      type: 'subscription_update_confirm',
      after_completion: { type: 'hosted_confirmation', hosted_confirmation: { custom_message: 'Done' } },
      subscription_update_confirm: { subscription, items: [{ id: item, price: gold, quantity: 1 }] },
    },
  ];
  for (const flow_data of flows) await stripe.billingPortal.sessions.create({ customer, flow_data });
}

/** Runs a trial that pauses without a card and is resumed, and first invoices that are paid late or never. */
async function trials(stripe: Stripe, { payment }: Sandbox): Promise<void> {
  const customer = await stripe.customers.create({});
  const trial = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: silver }],
    trial_period_days: 14,
    trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
  });
  payment.clock.advance({ days: 15 });
  const method = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
  await stripe.customers.update(customer.id, { invoice_settings: { default_payment_method: method.id } });
  await stripe.subscriptions.resume(trial.id);
  await stripe.subscriptions.cancel(trial.id);

  const failing = await stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer: customer.id });
  const unpaid = { customer: customer.id, items: [{ price: gold }], default_payment_method: failing.id };
  const late = await stripe.subscriptions.create({ ...unpaid, expand: ['latest_invoice'] });
  const invoice = late.latest_invoice as Stripe.Invoice;
  payment.payInvoice(invoice.id as string);
  await invoicesByHand(stripe, unpaid);
  await stripe.subscriptions.create(unpaid);
  payment.clock.advance({ hours: 23 });
  await stripe.paymentMethods.retrieve(failing.id, { expand: ['customer'] });
  await stripe.paymentMethods.detach(failing.id);
}

/**
 * Runs a pause on request and its end, a schedule that is updated and released, and one that is
 * cancelled before its start.
 */
async function pausesAndSchedules(stripe: Stripe): Promise<void> {
  const { id: customer } = await stripe.customers.create({ payment_method: 'pm_card_visa' });
  const [method] = (await stripe.paymentMethods.list({ customer })).data;
  await stripe.customers.update(customer, { invoice_settings: { default_payment_method: method?.id as string } });
  const { id } = await stripe.subscriptions.create({ customer, items: [{ price: silver }] });
  await stripe.subscriptions.pause(id, { type: 'subscription' });
  await stripe.subscriptions.resume(id, {
    payment_behavior: 'resume_on_payment_success',
    billing_cycle_anchor: { type: 'unchanged' },
  });

  const { id: schedule } = await stripe.subscriptionSchedules.create({ from_subscription: id });
  await stripe.subscriptionSchedules.update(schedule, { end_behavior: 'cancel' });
  await stripe.subscriptionSchedules.retrieve(schedule);
  await stripe.subscriptionSchedules.list({ customer });
  await stripe.subscriptionSchedules.release(schedule);
  const planned = await stripe.subscriptionSchedules.create({
    customer,
    start_date: 4_000_000_000,
    phases: [{ items: [{ price: gold }], duration: { interval: 'month' } }],
  });
  await stripe.subscriptionSchedules.cancel(planned.id);
}

/** Pays, voids and marks uncollectible first invoices through the API. */
async function invoicesByHand(stripe: Stripe, unpaid: Stripe.SubscriptionCreateParams): Promise<void> {
  const invoices: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    invoices.push(String((await stripe.subscriptions.create(unpaid)).latest_invoice));
  }
  const [paid = '', voided = '', givenUp = ''] = invoices;
  await stripe.invoices.pay(paid, { paid_out_of_band: true });
  await stripe.invoices.voidInvoice(voided);
  await stripe.invoices.markUncollectible(givenUp);
}

function openCheckout(stripe: Stripe, customer: string): Promise<Stripe.Checkout.Session> {
  return stripe.checkout.sessions.create({
    mode: 'subscription',
    customer,
    client_reference_id: '1',
    line_items: [{ price: silver, quantity: 1 }],
    metadata: { organisation: '1' },
    subscription_data: { metadata: { organisation: '1' } },
    success_url: 'http://localhost:3000/billing?checkout=success',
    cancel_url: 'http://localhost:3000/billing?checkout=cancel',
    expand: ['line_items'],
  });
}
