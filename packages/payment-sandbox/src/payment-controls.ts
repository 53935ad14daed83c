import type { HeldRequests } from './api/hold-requests.ts';
import type { RestrictedKey } from './api/permissions.ts';
import type { Payment } from './checkout/pay-checkout.ts';
import type { CompanyControls } from './company-controls.ts';
import type { Announcement } from './events/announce.ts';
import type { Delivery } from './provider/bookkeeping.ts';
import type { DeliveryQueue, Permission } from './provider/provider.ts';
import type { ProviderEvent, Subscription } from './provider/records.ts';
import type { PaymentState } from './provider/state.ts';
import type { Switches } from './provider/switches.ts';

/** Another account, or the other mode of the same account. The same API serves it under its own key. */
export interface OtherAccount {
  secretKey: string;
  /** By default test mode. */
  livemode?: boolean;
  /** By default the same account. */
  account?: string;
}

/** The controls by which tests and the control page operate the payment provider. */
export interface PaymentProvider extends CompanyControls {
  apiUrl: string;
  secretKey: string;
  webhookSecret: string;
  /** The whole state, for reading. Changes go through the functions. */
  state(): PaymentState;
  switches(): Switches;
  /** Changes some switches. */
  set(changes: Partial<Switches>): Switches;
  resetSwitches(): Switches;
  /** The next requests to the API fail. */
  failNext(failure: Switches['api_failure'], options?: { count?: number; only?: string; afterEffect?: boolean }): void;
  /** Holds requests to the API back before they are processed, until `release`. */
  holdRequests(): HeldRequests;
  /** Makes a key that may do what the permissions say, such as `customers:write`, and nothing else. */
  restrictKey(permissions: readonly Permission[]): RestrictedKey;
  setWebhookUrl(url: string | null): void;
  /**
   * Disables the webhook endpoint, as the real provider does after days of failures, or enables it. What happens while
   * it is disabled is never delivered, and is not listed as undelivered.
   */
  disableWebhook(disabled: boolean): void;
  clock: {
    now(): number;
    /**
     * Advances the clock and runs everything that is due, each at its own time. Returns the new time in seconds.
     *
     * @throws Error for a negative time, and for more than five years.
     */
    advance(by: { seconds?: number; hours?: number; days?: number }): number;
    advanceTo(seconds: number): number;
    /**
     * Advances the clock past the end of a subscription's period (by default the earliest) and past the
     * charge of its renewal. @throws Error if there is no such period.
     */
    advanceToPeriodEnd(subscription?: string): number;
    /** Advances the clock to the next step and runs it. Returns its description, or null if nothing is due. */
    advanceToNext(): string | null;
    next(): { at: number; about: string } | null;
  };
  deliveries: Omit<DeliveryQueue, 'enqueue' | 'stop'> & { list(): Delivery[] };
  events(): ProviderEvent[];
  /** Sends an event about any object, for types that the sandbox never sends itself. */
  emit(type: string, object: object, about?: Announcement): ProviderEvent;
  /**
   * Pays a checkout session as on its hosted page, by a customer who completes every authentication. The session is
   * named by its id or its URL.
   */
  payCheckout(session: string, card?: string): Payment;
  /**
   * Acts in the portal as on its hosted page. The session is named by its id or its URL.
   *
   * @throws Error with the sentence that the page would show.
   */
  portal(session: string): {
    changeCard(card: string): void;
    updateCustomer(changes: { name?: string; email?: string; country?: string }): void;
    cancel(subscription: string): void;
    resume(subscription: string): void;
    changePlan(subscription: string, price: string): void;
  };
  /**
   * Pays an invoice as on its hosted page. Returns null if it was paid, otherwise the sentence that the
   * page would show.
   */
  payInvoice(invoice: string, card?: string): string | null;
  /** Changes the card of a customer and of its subscriptions, without a session. */
  setCard(customer: string, card: string): void;
  /** Sets any status, known or unknown, and announces it as any other change. */
  forceStatus(subscription: string, status: string): Subscription;
  /**
   * Adds another account or mode to the same API, with its own objects, switches, clock and webhook
   * endpoint. It shares no data with this one and is kept in memory only.
   */
  openAccount(other: OtherAccount): PaymentProvider;
  /** Deletes everything, resets the clock and the switches, and creates the initial products again. */
  reset(): void;
}
