import { currenciesOf, unitAmount } from '../catalogue/price-currencies.ts';
import { addressIn } from '../customers/address.ts';
import { usePaymentMethod } from '../customers/payment-methods.ts';
import type { Outcome, TestMethod } from '../customers/test-method.ts';
import { findTestMethod, saveTestMethod, testMethodOf, testMethodsFor } from '../customers/test-methods.ts';
import { change } from '../events/announce.ts';
import { tryCharge } from '../invoices/charge.ts';
import { refusalOf } from '../pages/method-fields.ts';
import type { Provider } from '../provider/provider.ts';
import type { PortalConfiguration, PortalSession, Price, Subscription } from '../provider/records.ts';
import { endSubscription, isFinal, noDetails, periodEnd, scheduleEnd } from '../subscriptions/end-subscription.ts';
import { firstPeriodEnd } from '../subscriptions/new-subscription.ts';
import { releaseSchedule } from '../subscriptions/schedules/schedule.ts';
import { scheduleChange } from '../subscriptions/schedules/schedule-change.ts';
import { endTrialNow } from '../subscriptions/trial.ts';
import { updateItems } from '../subscriptions/update-items.ts';

/** Thrown if an action is not possible. The message is the sentence that the page shows. */
export class PortalError extends Error {}

/** @throws PortalError if the configuration of the session no longer exists. */
export function configurationOf(provider: Provider, session: PortalSession): PortalConfiguration {
  const configuration = provider.state.portal_configurations[session.configuration];
  if (!configuration) throw new PortalError('The configuration of this portal no longer exists.');
  return configuration;
}

/** Returns the customer's subscriptions that have not ended, newest first. */
export function subscriptionsOf(provider: Provider, session: PortalSession): Subscription[] {
  const all = Object.values(provider.state.subscriptions);
  return all.filter((one) => one.customer === session.customer && !isFinal(one)).toReversed();
}

/**
 * Saves a card or bank account and makes it the default of the customer, and with `everywhere` of all subscriptions. It
 * does not pay open invoices.
 *
 * @throws PortalError if it is not a test card or is declined, or the customer was deleted.
 */
export function changeCard(
  provider: Provider,
  session: PortalSession,
  number: string,
  everywhere = provider.state.switches.portal_card === 'subscriptions',
): void {
  const wanted = findTestMethod(number);
  const customer = provider.state.customers[session.customer];
  const sentence = refusalOf(wanted, currencyOf(provider, session));
  if (!wanted || sentence) throw new PortalError(sentence ?? '');
  if (!customer) throw new PortalError('This customer no longer exists.');
  if (wanted.saved === 'declines') throw new PortalError('Your card was declined. Try another card.');
  const method = usePaymentMethod(provider, saveTestMethod(provider, wanted, null).id, customer);
  change(provider, 'customer.updated', customer, () => {
    customer.invoice_settings.default_payment_method = method.id;
  });
  if (!everywhere) return;
  for (const subscription of subscriptionsOf(provider, session)) {
    change(provider, 'customer.subscription.updated', subscription, () => {
      subscription.default_payment_method = method.id;
    });
  }
}

/**
 * Cancels a subscription as configured: at once, or at the end of the period, in the form of the
 * switch `portal_cancellation`.
 *
 * @throws PortalError if the configuration does not allow it, or the plan has ended or is set to end.
 */
export function cancelInPortal(provider: Provider, session: PortalSession, subscriptionId: string): void {
  const subscription = own(provider, session, subscriptionId);
  const { subscription_cancel: feature } = configurationOf(provider, session).features;
  if (!feature.enabled) throw new PortalError('Plans cannot be cancelled in this portal.');
  if (subscription.cancel_at !== null) throw new PortalError('This plan is set to end already.');
  const schedule = provider.state.subscription_schedules[subscription.schedule ?? ''];
  if (schedule) releaseSchedule(provider, schedule);
  if (feature.mode === 'immediately') {
    subscription.cancellation_details = { ...noDetails(), ...subscription.cancellation_details };
    endSubscription(provider, subscription, 'cancellation_requested');
    return;
  }
  const flexible =
    provider.state.switches.portal_cancellation === 'flexible' && subscription.billing_mode.type === 'flexible';
  scheduleEnd(
    provider,
    subscription,
    flexible ? { form: 'cancel_at', at: periodEnd(subscription) } : { form: 'cancel_at_period_end' },
  );
}

/**
 * Removes a scheduled cancellation of either form, and a scheduled change of plan.
 *
 * @throws PortalError if the plan has ended.
 */
export function resumeInPortal(provider: Provider, session: PortalSession, subscriptionId: string): void {
  const subscription = own(provider, session, subscriptionId);
  const schedule = provider.state.subscription_schedules[subscription.schedule ?? ''];
  if (schedule) releaseSchedule(provider, schedule);
  scheduleEnd(provider, subscription, null);
}

/**
 * Changes the price of the subscription's only item, at once or at the end of the period, and ends its trial if the
 * configuration says so. An authentication that the card requires is taken as completed.
 *
 * @throws PortalError if the configuration does not offer it, or the plan has ended, several items or a
 *   schedule; ApiError if the card is declined. Nothing has changed then.
 */
export function changePlan(
  provider: Provider,
  session: PortalSession,
  subscriptionId: string,
  priceId: string,
  quantity?: number,
): void {
  const subscription = own(provider, session, subscriptionId);
  const { subscription_update: feature } = configurationOf(provider, session).features;
  const [item, ...others] = subscription.items.data;
  if (!feature.enabled || !item || others.length > 0) throw new PortalError('Plans cannot be changed in this portal.');
  if (subscription.schedule !== null) throw new PortalError('This plan cannot be changed, a schedule manages it.');
  const offered = offeredPrices(provider, session).some(({ id }) => id === priceId);
  if (!offered) throw new PortalError('This plan is not offered in this portal.');
  if (waitsForPeriodEnd(provider, session, subscription, priceId, quantity)) {
    scheduleChange(provider, subscription, priceId, quantity ?? item.quantity);
    return;
  }
  const endsTrial = subscription.status === 'trialing' && feature.trial_update_behavior === 'end_trial';
  if (endsTrial) requireCharge(provider, session, subscription);
  updateItems(provider, subscription, {
    changes: [{ id: item.id, price: priceId, ...(quantity !== undefined && { quantity }) }],
    proration: feature.proration_behavior,
    payment: 'error_if_incomplete',
    terms: { onSession: true, authenticated: true },
  });
  if (endsTrial) endTrialNow(provider, subscription, true);
}

/** @throws PortalError if the charge at the end of a trial would be declined. */
function requireCharge(provider: Provider, session: PortalSession, subscription: Subscription): void {
  const standard = provider.state.customers[session.customer]?.invoice_settings.default_payment_method ?? null;
  const method = subscription.default_payment_method ?? standard;
  const charge = tryCharge(provider, method, { onSession: true, authenticated: true });
  if (charge.result !== 'paid' && charge.result !== 'processing') throw new PortalError(charge.message);
}

/** Returns the test cards and bank accounts that the customer can save: those for the currency of its subscription. */
export function methodsInPortal(provider: Provider, session: PortalSession): TestMethod[] {
  return testMethodsFor(currencyOf(provider, session));
}

function currencyOf(provider: Provider, session: PortalSession): string {
  return subscriptionsOf(provider, session)[0]?.currency ?? 'gbp';
}

/**
 * Returns the result of a card on the portal's page: of saving it, or of the charge of a plan change. Undefined if no
 * card is used.
 */
export function useInPortal(provider: Provider, session: PortalSession, form: URLSearchParams): Outcome | undefined {
  if (form.get('act') === 'card') return findTestMethod(form.get('card') ?? '')?.saved;
  if (form.get('act') !== 'plan') return undefined;
  const { subscription_update: feature } = configurationOf(provider, session).features;
  if (feature.proration_behavior !== 'always_invoice') return undefined;
  const subscription = provider.state.subscriptions[form.get('subscription') ?? ''];
  const price = form.get('price') ?? '';
  if (subscription && waitsForPeriodEnd(provider, session, subscription, price)) return undefined;
  const standard = provider.state.customers[session.customer]?.invoice_settings.default_payment_method;
  const method = provider.state.payment_methods[subscription?.default_payment_method ?? standard ?? ''];
  return testMethodOf(method)?.onSession;
}

/**
 * Changes what the configuration lets the customer change of its own data.
 *
 * @throws PortalError if it does not allow it, or the customer was deleted.
 */
export function updateCustomer(
  provider: Provider,
  session: PortalSession,
  changes: { name?: string; email?: string; country?: string },
): void {
  const { customer_update: feature } = configurationOf(provider, session).features;
  const customer = provider.state.customers[session.customer];
  if (!customer) throw new PortalError('This customer no longer exists.');
  for (const name of ['name', 'email'] as const) {
    if (changes[name] !== undefined && !(feature.enabled && feature.allowed_updates.includes(name)))
      throw new PortalError(`The ${name} cannot be changed in this portal.`);
  }
  if (changes.country !== undefined && !(feature.enabled && feature.allowed_updates.includes('address')))
    throw new PortalError('The address cannot be changed in this portal.');
  change(provider, 'customer.updated', customer, () => {
    if (changes.name !== undefined) customer.name = changes.name || null;
    if (changes.email !== undefined) customer.email = changes.email || null;
    if (changes.country !== undefined) customer.address = changes.country ? addressIn(changes.country) : null;
  });
}

/**
 * Whether the configuration leaves a change of plan to the end of the period: one to a lower amount, or to a shorter
 * interval.
 */
export function waitsForPeriodEnd(
  provider: Provider,
  session: PortalSession,
  subscription: Subscription,
  priceId: string,
  quantity?: number,
): boolean {
  const { conditions } = configurationOf(provider, session).features.subscription_update.schedule_at_period_end;
  const [item] = subscription.items.data;
  const price = provider.state.prices[priceId];
  if (!item || !price) return false;
  const unit = (each: Price) => unitAmount(provider, each, subscription.currency);
  const lower = unit(price) * (quantity ?? item.quantity) < unit(item.price) * item.quantity;
  const shorter = firstPeriodEnd(price, 0) < firstPeriodEnd(item.price, 0);
  return conditions.some(({ type }) => (type === 'decreasing_item_amount' ? lower : shorter));
}

/** Returns the prices to which the configuration lets a customer change. */
export function offeredPrices(provider: Provider, session: PortalSession): Price[] {
  const { subscription_update: feature } = configurationOf(provider, session).features;
  if (!feature.enabled) return [];
  const ids = (feature.products ?? []).flatMap(({ prices }) => prices);
  return ids.flatMap((id) => provider.state.prices[id] ?? []).filter((price) => price.active);
}

/**
 * Returns the offered prices to which a subscription can be changed: none of one with several items, or that a schedule
 * manages.
 */
export function otherPrices(provider: Provider, session: PortalSession, subscription: Subscription): Price[] {
  const [item, ...others] = subscription.items.data;
  if (others.length > 0 || subscription.schedule !== null) return [];
  return offeredPrices(provider, session).filter(
    (price) => price.id !== item?.price.id && currenciesOf(provider, price).includes(subscription.currency),
  );
}

function own(provider: Provider, session: PortalSession, id: string): Subscription {
  const subscription = subscriptionsOf(provider, session).find((one) => one.id === id);
  if (!subscription) throw new PortalError('This plan has ended already.');
  return subscription;
}
