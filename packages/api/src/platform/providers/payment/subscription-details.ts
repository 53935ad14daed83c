import { fields, idOf, seconds, textOf } from '../untrusted-json.ts';
import { type Ask, providerErrorOf } from './connection.ts';
import { invoicesOf } from './invoices.ts';
import {
  type Discount,
  type InvoiceTrouble,
  isEnded,
  readItem,
  readSubscriptionState,
  type SubscriptionDetails,
} from './subscription-state.ts';

/** What an answer about a subscription has to contain, because it decides what the subscription gives. */
export const decisive = ['latest_invoice'];

/** What an answer contains beside it, if the key may read it: pages show it, and nothing is decided by it. */
const shown = [...decisive, 'schedule', 'default_payment_method', 'customer.invoice_settings.default_payment_method'];

/** What is asked for, in this order until the provider does not refuse it: a key that may not read coupons is common. */
const expansions = [[...shown, 'discounts.source.coupon'], shown, decisive];

type Invoice = { status: string | null; isFirst: boolean; wasPaid: boolean };

/**
 * Decides by a subscription's invoices, the newest first, whether they give the plan. `active` is no proof of payment:
 * the status stays so when the first debit bounces and its invoice is void, and writing off a debt gives it back. The
 * newest invoice that is finalised and not void decides; a void one counts only if it is the first and was never paid.
 */
export function troubleOf(invoices: Invoice[]): InvoiceTrouble | null {
  const finalised = invoices.filter(({ status }) => status !== 'draft');
  const deciding = finalised.find(({ status }) => status !== 'void');
  if (deciding !== undefined) return deciding.status === 'uncollectible' ? 'uncollectible' : null;
  return finalised.some(({ isFirst, wasPaid }) => isFirst && !wasPaid) ? 'void' : null;
}

/**
 * Asks with all objects that pages show, and with fewer if the provider refuses to show them: a key that may not read a
 * card still reads whether it pays. For requests that change nothing.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function askExpanded<Answer>(ask: (expand: string[]) => Promise<Answer>): Promise<Answer> {
  for (const expand of expansions) {
    try {
      return await ask(expand);
    } catch (error) {
      const refusal = providerErrorOf(error);
      const isRefused = refusal?.status === 403 || refusal?.param === 'expand';
      if (!isRefused || expand === decisive) throw error;
    }
  }
  throw new Error('There is nothing to ask for.');
}

/**
 * Reads the details of a subscription from an answer with the `decisive` objects, or with more. Its invoices are listed only where
 * the newest one does not decide.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function readDetails(ask: Ask, answer: object): Promise<SubscriptionDetails> {
  const subscription = fields(answer);
  const latest = fields(subscription?.latest_invoice);
  const customer = fields(subscription?.customer);
  const method =
    subscription?.default_payment_method ?? fields(customer?.invoice_settings)?.default_payment_method ?? null;
  return {
    invoiceTrouble: await readTrouble(ask, answer),
    paidInvoiceAt: latest?.status === 'paid' ? seconds(latest.created) : null,
    charged: customer === null ? undefined : { paymentMethod: methodName(method), credit: creditOf(customer.balance) },
    discounts: discountsOf(subscription?.discounts),
    nextPhase: typeof subscription?.schedule === 'string' ? undefined : nextPhaseOf(subscription?.schedule),
  };
}

async function readTrouble(ask: Ask, answer: object): Promise<InvoiceTrouble | null> {
  const state = readSubscriptionState(answer);
  if (state === null || isEnded(state)) return null;
  const shown = shownTrouble(answer);
  return shown === undefined ? troubleOf(await invoicesOf(ask, state.id)) : shown;
}

/** The trouble that a subscription's newest invoice shows; undefined if it does not decide and all have to be listed. */
export function shownTrouble(answer: object): InvoiceTrouble | null | undefined {
  const latest = fields(fields(answer)?.latest_invoice);
  const status = textOf(latest?.status);
  if (status === 'void' || status === 'draft') return undefined;
  return status === 'uncollectible' ? 'uncollectible' : null;
}

/** "visa 4242", "sepa_debit 3000", "paypal" */
export function methodName(value: unknown): string | null {
  const method = fields(value);
  const type = textOf(method?.type);
  if (method === null || type === null) return null;
  const kind = fields(method[type]);
  return [textOf(kind?.brand) ?? type, textOf(kind?.last4)].filter((part) => part !== null).join(' ');
}

/** A negative balance is credit: the provider takes it from the next invoices. */
function creditOf(balance: unknown): number {
  return typeof balance === 'number' && Number.isSafeInteger(balance) && balance < 0 ? -balance : 0;
}

/** Reads discounts of which the answer holds the coupons, in this version's shape and in the one before it. */
function discountsOf(value: unknown): Discount[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const shown = value.map(fields);
  const coupons = shown.map((discount) => fields(fields(discount?.source)?.coupon) ?? fields(discount?.coupon));
  if (coupons.includes(null)) return undefined;
  return coupons.flatMap((coupon, index) => {
    const percent = typeof coupon?.percent_off === 'number' ? coupon.percent_off : null;
    const [amount, currency] = [seconds(coupon?.amount_off), textOf(coupon?.currency)];
    const money = amount !== null && currency !== null ? { amount, currency } : null;
    if (percent === null && money === null) return [];
    return { percent, amount: money, once: coupon?.duration === 'once', endsAt: seconds(shown[index]?.end) };
  });
}

/** The first phase that begins after the current one ends. */
function nextPhaseOf(value: unknown): SubscriptionDetails['nextPhase'] {
  const schedule = fields(value);
  const end = seconds(fields(schedule?.current_phase)?.end_date);
  const phases = Array.isArray(schedule?.phases) ? schedule.phases.map(fields) : [];
  const next = phases.find((phase) => end !== null && (seconds(phase?.start_date) ?? 0) >= end);
  const startsAt = seconds(next?.start_date);
  if (startsAt === null || !Array.isArray(next?.items)) return null;
  const items = next.items.map(fields).map((item) => ({ ...readItem(item), priceId: idOf(item?.price) }));
  return { startsAt, items };
}
