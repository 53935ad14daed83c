import type { Payment } from './checkout/pay-checkout.ts';
import type { Announcement } from './events/announce.ts';
import type { Delivery } from './provider/bookkeeping.ts';
import type { DeliveryQueue } from './provider/provider.ts';
import type { ProviderEvent, Subscription } from './provider/records.ts';
import type { PaymentState } from './provider/state.ts';
import type { Switches } from './provider/switches.ts';

/** What else the same API serves under a key of its own: the other mode of the account, or another account. */
export interface World {
  secretKey: string;
  /** By default test mode. */
  livemode?: boolean;
  /** By default the same account. */
  account?: string;
}

/** The payment provider as tests and the control page handle it. */
export interface PaymentProvider {
  apiUrl: string;
  secretKey: string;
  webhookSecret: string;
  /** Everything that the provider knows. To be read; changes go through the functions. */
  state(): PaymentState;
  switches(): Switches;
  /** Changes some switches. */
  set(changes: Partial<Switches>): Switches;
  resetSwitches(): Switches;
  /** The next requests to the API fail. */
  failNext(failure: Switches['api_failure'], options?: { count?: number; only?: string; afterEffect?: boolean }): void;
  setWebhookUrl(url: string | null): void;
  clock: {
    now(): number;
    /** Moves the clock ahead and lets all happen that falls due, each at its own time. */
    advance(by: { seconds?: number; hours?: number; days?: number }): number;
    advanceTo(seconds: number): number;
    /** To just after the end of a subscription's period, of the earliest one when none is named, so that its renewal has been charged. */
    advanceToPeriodEnd(subscription?: string): number;
    /** To the next thing that time brings about, and it happens. */
    advanceToNext(): string | null;
    next(): { at: number; about: string } | null;
  };
  deliveries: Omit<DeliveryQueue, 'enqueue' | 'stop'> & { list(): Delivery[] };
  events(): ProviderEvent[];
  /** Sends an event about any object, for types that nothing here brings about. */
  emit(type: string, object: object, about?: Announcement): ProviderEvent;
  /** What a person does on the hosted checkout. The session by its id or its address. */
  payCheckout(session: string, card?: string): Payment;
  /** What a person does in the portal. The session by its id or its address. Throws the page's sentence. */
  portal(session: string): {
    changeCard(card: string): void;
    cancel(subscription: string): void;
    resume(subscription: string): void;
    changePlan(subscription: string, price: string): void;
  };
  /** What a person does on the hosted invoice. Null when it was paid, else the page's sentence. */
  payInvoice(invoice: string, card?: string): string | null;
  /** The same as a card change by its owner in the portal, without a session. */
  setCard(customer: string, card: string): void;
  /** Sets any status, known or unknown, by an event as any other. */
  forceStatus(subscription: string, status: string): Subscription;
  /**
   * Opens another world behind the same API, with objects, switches, clock and webhook of its own. It sees
   * nothing of this one, and lives in memory.
   */
  openWorld(world: World): PaymentProvider;
  /** Forgets everything, the clock and the switches included, and puts the plans on sale again. */
  reset(): void;
}
