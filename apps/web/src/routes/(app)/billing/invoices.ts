import { dayMilliseconds } from '@gatehouse/api/platform/durations';
import type { Tone } from '#lib/format/tone.ts';
import { locale } from '#lib/language/language.ts';
import { texts } from '#lib/language/texts.ts';
import type { RouterOutputs } from '#lib/router.ts';
import type { Plan } from '#lib/subscription.ts';

/** What the page shows administrators of an organisation that has a customer at the payment provider. */
export type Invoices = NonNullable<RouterOutputs['billing']['invoices']>;

type Invoice = NonNullable<Invoices['invoices']>[number];

/** Whether there is anything to show: somebody who left a checkout has a customer, and no invoice. */
export function hasInvoices({ invoices, next, method }: Invoices): boolean {
  return invoices?.length !== 0 || next !== null || method !== null;
}

/** Whether an invoice can still be paid on its page. */
export function isPayable({ state }: Pick<Invoice, 'state'>): boolean {
  return state === 'open' || state === 'uncollectible';
}

/** Whole days until an open invoice is due, negative once it is overdue; null if it has no such day. */
export function daysUntilDue({ state, due }: Pick<Invoice, 'state' | 'due'>, now: string): number | null {
  if (state !== 'open' || due === null) return null;
  return Math.floor((Date.parse(due) - Date.parse(now)) / dayMilliseconds);
}

/** The badge of an invoice. An open one that is not due yet is nothing to worry about. */
export function stateText(invoice: Pick<Invoice, 'state' | 'due'>, now: string): { tone: Tone; text: string } {
  const { states } = texts('invoices');
  const days = daysUntilDue(invoice, now);
  if (days !== null && days < 0) return { tone: 'bad', text: states.overdue };
  switch (invoice.state) {
    case 'paid':
      return { tone: 'good', text: states.paid };
    case 'open':
      return { tone: days === null ? 'warn' : 'accent', text: states.open };
    case 'uncollectible':
      return { tone: 'bad', text: states.uncollectible };
    case 'void':
      return { tone: 'plain', text: states.void };
    default:
      // A state that is newer than this page.
      return { tone: 'plain', text: invoice.state };
  }
}

/** "04/2030" of a card's last month 2030-04 */
export function monthText(month: string): string {
  const format = new Intl.DateTimeFormat(locale(), { month: '2-digit', year: 'numeric', timeZone: 'UTC' });
  return format.format(new Date(`${month}-01`));
}

/** The next invoice, unless the plan's state means that it will not be collected as announced. */
export function collectedNext({ next }: Invoices, { status, collection_paused }: Plan): Invoices['next'] {
  return ['active', 'trialing', 'past_due'].includes(status) && !collection_paused ? next : null;
}
