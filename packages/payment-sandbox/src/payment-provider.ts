import { holdRequests } from './api/hold-requests.ts';
import { restrictKey } from './api/permissions.ts';
import { payCheckout } from './checkout/pay-checkout.ts';
import { nextStep, runUntil } from './clock/advance.ts';
import { companyControls } from './company-controls.ts';
import { goodCard } from './customers/cards.ts';
import { findTestMethod } from './customers/test-methods.ts';
import { announce } from './events/announce.ts';
import { createDeliveryQueue } from './events/delivery-queue.ts';
import { addEndpoint, readEventTypes } from './events/webhook-endpoints.ts';
import { payInvoice } from './invoices/invoice-page.ts';
import type { OtherAccount, PaymentProvider } from './payment-controls.ts';
import { cancelInPortal, changeCard, changePlan, resumeInPortal, updateCustomer } from './portal/portal.ts';
import { daySeconds, hourSeconds, now } from './provider/clock.ts';
import type { Provider } from './provider/provider.ts';
import type { PortalSession } from './provider/records.ts';
import { emptyState, type PaymentState, restoreState } from './provider/state.ts';
import { openStoredFile } from './provider/stored-file.ts';
import { defaultSwitches, readSwitches, type Switches } from './provider/switches.ts';
import { seed } from './seed.ts';
import { forceStatus } from './subscriptions/subscriptions.ts';

export interface PaymentSettings {
  /** The sandbox's own origin. */
  url: string;
  secretKey: string;
  webhookSecret: string;
  /** The file that keeps the state; null: in memory. */
  path: string | null;
  /**
   * The event types that the service's endpoint subscribes to; by default all. Nothing else is sent to it.
   */
  webhookEvents?: readonly string[];
  /** The time of the service, in milliseconds; by default that of the machine. */
  serviceTime?: () => number;
  /** Whether the two products and a portal configuration exist from the start. */
  seeded: boolean;
  /** The account and mode, if the API serves several; by default the only account, in test mode. */
  identity?: { account: string; livemode: boolean; providersByKey: Map<string, Provider> };
}

export interface RunningPaymentProvider extends PaymentProvider {
  provider: Provider;
  close(): void;
}

const serviceEndpoint = 'we_sandbox_service';
const tickMs = 1000;
/** A renewal's invoice is charged an hour after the period's end. */
const chargedAfterSeconds = hourSeconds + 60;
const longestAdvanceSeconds = 5 * 366 * daySeconds;

/**
 * Starts the provider without a server: its state, its clock, and the deliveries of its events.
 *
 * @throws Error if the file at `path` is not JSON, or if `webhookEvents` names a type that does not exist.
 */
export function startPaymentProvider(settings: PaymentSettings): RunningPaymentProvider {
  const file = openStoredFile(settings.path, emptyState());
  const queue = createDeliveryQueue(() => provider);
  const provider: Provider = {
    url: settings.url,
    secretKey: settings.secretKey,
    ...(settings.identity ?? { account: 'own', livemode: false, providersByKey: new Map() }),
    serviceTime: settings.serviceTime ?? Date.now,
    restrictedKeys: new Map(),
    file,
    state: file.value,
    deliveries: queue,
    replayedTime: null,
    request: null,
    held: null,
  };
  const others: RunningPaymentProvider[] = [];
  const webhookEvents = readEventTypes(settings.webhookEvents ?? ['*']);
  let webhookUrl: string | null = null;
  provider.providersByKey.set(settings.secretKey, provider);
  begin();
  const ticker = setInterval(tick, tickMs);
  ticker.unref();

  return {
    provider,
    apiUrl: settings.url,
    secretKey: settings.secretKey,
    webhookSecret: settings.webhookSecret,
    state: () => provider.state,
    switches: () => provider.state.switches,
    set,
    resetSwitches: () => set(defaultSwitches()),
    failNext(failure, { count = 1, only = '', afterEffect = false } = {}) {
      set({
        api_failure: failure,
        api_failure_count: count,
        api_failure_only: only,
        api_failure_after_effect: afterEffect,
      });
    },
    holdRequests: () => holdRequests(provider),
    restrictKey: (permissions) => restrictKey(provider, permissions),
    setWebhookUrl,
    disableWebhook,
    clock: { now: () => now(provider), advance, advanceTo, advanceToPeriodEnd, advanceToNext, next },
    deliveries: { ...queue, list: () => provider.state.deliveries },
    events: () => Object.values(provider.state.events),
    emit: (type, object, about) => saved(() => announce(provider, type, object, about)),
    payCheckout: (session, card = goodCard) =>
      saved(() => payCheckout(provider, find('checkout_sessions', session), card)),
    portal,
    payInvoice: (invoice, card = goodCard) => saved(() => payInvoice(provider, find('invoices', invoice), card)),
    setCard(customer, card) {
      if (!findTestMethod(card)) throw new Error(`${card} is not a test card.`);
      saved(() => changeCard(provider, { customer } as PortalSession, card, true));
    },
    ...companyControls(provider, saved, (invoice) => find('invoices', invoice)),
    forceStatus: (id, status) => saved(() => forceStatus(provider, id, status)),
    reset,
    openAccount,
    close() {
      for (const other of others) other.close();
      provider.providersByKey.delete(settings.secretKey);
      clearInterval(ticker);
      queue.stop();
      file.close();
    },
  };

  /** Runs what has become due. An error is logged and must not end the process. */
  function tick(): void {
    try {
      if (runUntil(provider, now(provider), null) > 0) file.save();
    } catch (error) {
      console.error(error);
    }
  }

  function begin(): void {
    restoreState(provider.state);
    if (settings.seeded) seed(provider);
    setWebhookUrl(webhookUrl);
  }

  function saved<T>(work: () => T): T {
    try {
      return work();
    } finally {
      file.save();
    }
  }

  function set(changes: Partial<Switches>): Switches {
    Object.assign(provider.state.switches, readSwitches(changes));
    file.save();
    return provider.state.switches;
  }

  function setWebhookUrl(url: string | null): void {
    webhookUrl = url;
    const { webhook_endpoints: endpoints } = provider.state;
    if (url === null) delete endpoints[serviceEndpoint];
    else {
      const chosen = { url, secret: settings.webhookSecret, enabled_events: webhookEvents };
      if (endpoints[serviceEndpoint]) Object.assign(endpoints[serviceEndpoint], chosen);
      else addEndpoint(provider, serviceEndpoint, chosen);
    }
    file.save();
  }

  function disableWebhook(disabled: boolean): void {
    const endpoint = provider.state.webhook_endpoints[serviceEndpoint];
    if (!endpoint) throw new Error('There is no webhook endpoint.');
    endpoint.status = disabled ? 'disabled' : 'enabled';
    file.save();
  }

  function advance({ seconds = 0, hours = 0, days = 0 }: { seconds?: number; hours?: number; days?: number }): number {
    return advanceTo(now(provider) + seconds + hours * hourSeconds + days * daySeconds);
  }

  function advanceTo(target: number): number {
    const from = now(provider);
    if (!Number.isFinite(target) || target < from) throw new Error('The clock goes forward only.');
    if (target - from > longestAdvanceSeconds)
      throw new Error('The clock goes forward by at most five years at a time.');
    return saved(() => {
      runUntil(provider, target, null);
      provider.state.clock_offset_seconds += Math.ceil(target - from);
      return now(provider);
    });
  }

  function advanceToPeriodEnd(id?: string): number {
    const ends = Object.values(provider.state.subscriptions)
      .filter(
        (one) =>
          (id === undefined || one.id === id) && ['active', 'past_due', 'trialing', 'unpaid'].includes(one.status),
      )
      .flatMap((one) => one.items.data.map((item) => item.current_period_end));
    if (ends.length === 0) throw new Error('There is no subscription whose period can end.');
    return advanceTo(Math.max(now(provider), Math.min(...ends) + chargedAfterSeconds));
  }

  function advanceToNext(): string | null {
    const step = nextStep(provider, null);
    if (!step) return null;
    advanceTo(Math.max(now(provider), step.at));
    return step.about;
  }

  function next(): { at: number; about: string } | null {
    const step = nextStep(provider, null);
    return step && { at: step.at, about: step.about };
  }

  function portal(sessionId: string) {
    const session = find('portal_sessions', sessionId);
    return {
      changeCard: (card: string) => saved(() => changeCard(provider, session, card)),
      updateCustomer: (changes: { name?: string; email?: string; country?: string }) =>
        saved(() => updateCustomer(provider, session, changes)),
      cancel: (id: string) => saved(() => cancelInPortal(provider, session, id)),
      resume: (id: string) => saved(() => resumeInPortal(provider, session, id)),
      changePlan: (id: string, price: string) => saved(() => changePlan(provider, session, id, price)),
    };
  }

  function find<K extends 'checkout_sessions' | 'portal_sessions' | 'invoices'>(
    collection: K,
    idOrAddress: string,
  ): PaymentState[K][string] {
    const id = idOrAddress.split(/[?#]/)[0]?.split('/').at(-1) ?? '';
    const found = provider.state[collection][id];
    if (!found) throw new Error(`There is no ${id} among the ${collection.replace('_', ' ')}.`);
    return found as PaymentState[K][string];
  }

  function openAccount({ secretKey, livemode = false, account = provider.account }: OtherAccount): PaymentProvider {
    const identity = { account, livemode, providersByKey: provider.providersByKey };
    const other = startPaymentProvider({ ...settings, secretKey, path: null, identity });
    others.push(other);
    return other;
  }

  function reset(): void {
    Object.assign(provider.state, emptyState());
    begin();
  }
}
