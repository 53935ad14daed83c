import { type Fields, toDate } from '../../platform/providers/untrusted-json.ts';
import { eventClassOf, type SubscriptionState } from './provider-objects.ts';
import { lastOfSecond } from './same-second.ts';

type RunEvent = {
  created: number;
  number: number;
  object: Fields;
  previous: Fields | null;
  state: Pick<SubscriptionState, 'statusClass' | 'latestInvoiceId'>;
};

export type Run = {
  /** The second in which the run of failed payments began; null if all events are of an earlier run. */
  pastDueSince: number | null;
  /** The number of the event before which the run cannot have begun; 0 if there is none. */
  brokenNumber: number;
};

/**
 * Returns the run of failed payments that `last` belongs to. It begins with the first past-due event after the newest
 * second with an event that shows another status, before or after its change. That second itself counts if all its
 * events are past due, or if it certainly ends past due. Events up to `settledNumber` belong to an earlier run.
 */
export function runOf(events: RunEvent[], last: RunEvent, settledNumber: number): Run {
  const { second, number: brokenNumber } = lastBreak(events);
  if (last.number <= settledNumber) return { pastDueSince: null, brokenNumber };

  const first = endsPastDue(events.filter(({ created }) => created === second)) ? second : second + 1;
  const pastDueSince = events
    .filter((event) => isPastDue(event) && event.created >= first && event.number > settledNumber)
    .reduce((earliest, { created }) => Math.min(earliest, created), last.created);
  return { pastDueSince, brokenNumber };
}

type Break = {
  second: number;
  number: number;
  /**
   * The newest invoices of its events. An event that shows the invoice as new is left out, unless it also shows that
   * past due ended: a subscription is of another status before the first payment of an invoice fails.
   */
  invoiceIds: (string | null)[];
};

/** Returns the newest second with an event that shows a status other than past due, before or after its change. */
export function lastBreak(events: RunEvent[]): Break {
  const breaks = events.filter(({ state, previous }) => eventClassOf(state, previous) !== 'past_due');
  const second = breaks.reduce((newest, { created }) => Math.max(newest, created), -1);
  const newest = breaks.filter(({ created }) => created === second);
  const number = newest.reduce((last, each) => Math.max(last, each.number), 0);
  const invoiceIds = newest.filter((event) => !bringsInvoice(event)).map(({ state }) => state.latestInvoiceId);
  return { second, number, invoiceIds };
}

function bringsInvoice({ previous }: RunEvent): boolean {
  return previous !== null && 'latest_invoice' in previous && previous.status !== 'past_due';
}

function endsPastDue(second: RunEvent[]): boolean {
  if (second.every(isPastDue)) return true;
  const { event, certain } = lastOfSecond(second);
  return certain && event !== null && isPastDue(event);
}

function isPastDue({ state }: Pick<RunEvent, 'state'>): boolean {
  return state.statusClass === 'past_due';
}

export type FirstPastDueAnswer = {
  /** When the provider first answered past due; null if its last answer was another status. */
  pastDueSince: Date | null;
  /**
   * The number of the last event that was stored before that request, or before a later one that was found to be about
   * the same run; null if it is not known.
   */
  pastDueNumber: number | null;
};

/**
 * Returns the time of the run's first event or of the provider's first past-due answer: the earlier one, because the
 * first event may be lost. An answer before the event that precedes the run was about an earlier run.
 */
export function startOfGrace(answer: FirstPastDueAnswer | null, run: Run | null): Date | null {
  const shown = toDate(run?.pastDueSince ?? null);
  const answered = answer?.pastDueSince ?? null;
  if (answer === null || run === null || shown === null || answered === null) return shown ?? answered;

  const isSameRun = answer.pastDueNumber !== null && run.brokenNumber <= answer.pastDueNumber;
  return isSameRun && answered < shown ? answered : shown;
}

/**
 * Returns the first of the provider's past-due answers about the current run, when it answers past due again: the one
 * that is stored, unless an event that was stored since shows another status. If both answers are about the same unpaid
 * invoice, that event is a late one from before the run, and the run includes all events up to the new answer. It is
 * not if it names that invoice too: then it is taken for a recovery, or the start of a second failure of the invoice.
 */
export function firstAnswerOfRun(
  stored: FirstPastDueAnswer & Invoice,
  given: FirstPastDueAnswer & Invoice,
  { number, invoiceIds }: Break,
): FirstPastDueAnswer & Invoice {
  if (stored.pastDueSince === null) return given;
  if (stored.pastDueNumber === null || number <= stored.pastDueNumber) return stored;

  const { invoiceId, pastDueNumber } = given;
  const isSameRun = invoiceId !== null && stored.invoiceId === invoiceId && !invoiceIds.includes(invoiceId);
  return isSameRun ? { ...stored, pastDueNumber } : given;
}

/** The newest invoice in an answer. */
type Invoice = { invoiceId: string | null };

/** An answer of the provider. Its number is that of the last event before the request. */
type Answer = Pick<RunEvent, 'number' | 'state'>;

/**
 * Whether two past-due answers, one after the other, show that the first event of the run is a late one of an earlier
 * failure: it arrived between them and names another invoice than both. If the run continues past an invoice before the
 * provider is asked the first time, it therefore counts from the answer.
 */
export function beginsWithEarlierFailure(
  events: RunEvent[],
  settledNumber: number,
  last: Answer | null,
  given: Answer,
): boolean {
  const { latestInvoiceId: invoiceId } = given.state;
  if (last === null || !isPastDue(last) || !isPastDue(given) || last.state.latestInvoiceId !== invoiceId) return false;

  const run = events.filter((event) => isPastDue(event) && event.number > settledNumber);
  const first = run.toSorted((one, other) => one.created - other.created)[0];
  if (first === undefined || first.number <= last.number || first.number > given.number) return false;

  const { latestInvoiceId: named } = first.state;
  return named !== null && invoiceId !== null && named !== invoiceId;
}
