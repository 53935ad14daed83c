import { sql } from 'drizzle-orm';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { dateOfSecond } from '../../platform/durations.ts';
import { isEnded, type SubscriptionState, trialEndPause } from '../../platform/providers/payment/subscription-state.ts';
import type { TierMatch } from './match-tier.ts';

export type SubscriptionRow = typeof paymentSubscriptions.$inferSelect;

/** Marks a row for a sync, with a new version, so that a sync that asked before does not remove the mark. */
export const markedForSync = { needsSync: true, version: sql`${paymentSubscriptions.version} + 1` };

/** The problems because of which the provider's answer is not stored: the row may differ from it. */
export const answerNotStored = ['unknown_to_provider', 'other_customer'] as const;

export function isNotStored(problem: SubscriptionRow['problem']): problem is (typeof answerNotStored)[number] {
  return answerNotStored.some((each) => each === problem);
}

/** The columns of a row that a state of the provider gives by itself: a new column is one of them unless it is named here. */
type StateColumns = Omit<
  SubscriptionRow,
  | keyof DetailColumns
  | keyof StandingColumns
  | 'id'
  | 'organisationId'
  | 'customerId'
  | 'version'
  | 'needsSync'
  | 'syncedAt'
  | 'problem'
>;

/** The columns that follow from a state and from those before it. */
type StandingColumns = Pick<SubscriptionRow, 'pastDueSince' | 'stateAt' | 'undone'>;

/** The columns that only an answer of the provider gives. An event, or an answer that lacks them, leaves them as they are. */
export type DetailColumns = Pick<SubscriptionRow, 'invoiceTrouble'> &
  Partial<
    Pick<
      SubscriptionRow,
      'disputed' | 'paymentMethod' | 'credit' | 'discounts' | 'nextTierAt' | 'nextTier' | 'nextInterval'
    >
  >;

/** The plan of a phase ahead: null for a price of no tier, and for an interval that is not known. */
export type NextPlan = { tier: string | null; interval: SubscriptionRow['nextInterval'] };

/** The columns of a row that an event or an answer writes: a whole state, or of a late event the grace alone. */
export type WrittenColumns =
  | (StateColumns & StandingColumns & Partial<DetailColumns>)
  | (Pick<SubscriptionRow, 'pastDueSince'> & Partial<SubscriptionRow>);

/** Returns the columns of a state and the tier that it pays for. */
export function columnsOf(state: SubscriptionState, { tier, source, priceId }: TierMatch): StateColumns {
  const ended = isEnded(state);
  return {
    status: state.status,
    ended,
    tier,
    tierSource: source,
    priceId,
    amount: state.price?.amount ?? null,
    currency: state.currency ?? state.price?.currency ?? null,
    interval: state.price?.interval ?? null,
    quantity: state.items.find((item) => item.priceId === priceId)?.quantity ?? null,
    trialEnded: state.pauseReason === trialEndPause,
    collectionPaused: !ended && state.collectionPaused,
    daysUntilDue: ended ? null : state.daysUntilDue,
    cancelAtPeriodEnd: !ended && state.scheduled,
    currentPeriodStart: ended ? null : dateOfSecond(state.currentPeriodStart),
    currentPeriodEnd: ended ? null : dateOfSecond(state.currentPeriodEnd),
    endsAt: ended ? null : dateOfSecond(state.endsAt),
    startedAt: dateOfSecond(state.createdAt),
  };
}

/** Returns the columns of what only an answer tells. `next` is the plan of the phase ahead; null without one. */
export function detailColumnsOf(state: SubscriptionState, next: NextPlan | null): DetailColumns | null {
  const { details } = state;
  if (details === null) return null;
  const { invoiceTrouble, charged, nextPhase } = details;
  const discounts = details.discounts?.map((each) => ({
    ...each,
    endsAt: dateOfSecond(each.endsAt)?.toISOString() ?? null,
  }));
  const shown = { invoiceTrouble, ...charged, ...(discounts && { discounts }) };
  if (nextPhase === undefined && !isEnded(state)) return shown;
  const nextTierAt = isEnded(state) ? null : dateOfSecond(nextPhase?.startsAt ?? null);
  const { tier: nextTier, interval: nextInterval } = (nextTierAt && next) ?? { tier: null, interval: null };
  return { ...shown, nextTierAt, nextTier, nextInterval };
}

/** A state that an event shows. */
export type ShownState = {
  /** The provider's clock, in whole seconds. */
  created: number;
  after: StateColumns;
  /** The state before the change; null for an event that shows no change. */
  before: StateColumns | null;
};

/**
 * Returns what a row becomes by an event; null if its state stays. What is newer is written, and the sync that follows
 * every event makes right what this cannot decide: the order of two events of one second. A final status absorbs: it
 * replaces a state of any age and is replaced by none.
 */
export function afterEvent(row: SubscriptionRow | null, shown: ShownState): WrittenColumns | null {
  const { created, after } = shown;
  // A row without the second of its state was never written by the provider's word.
  if (row === null || row.stateAt === null) return written(row, shown);
  if (row.ended) return null;
  if (after.ended) return { ...written(row, shown), stateAt: Math.max(created, row.stateAt) };

  if (created > row.stateAt) return written(row, shown);
  if (created < row.stateAt) return afterRecovery(row, row.stateAt, shown);

  const isStoredLater = row.undone !== null && isSame({ ...row, ...row.undone }, after);
  const isFirst = after.status === 'incomplete' && row.status !== 'incomplete';
  return isStoredLater || isFirst ? null : written(row, shown);
}

/**
 * Returns what a row becomes by an answer of the provider, given at a second of the provider's clock; null if the row
 * has ended, which nothing takes back.
 */
export function afterAnswer(
  row: SubscriptionRow | null,
  after: StateColumns,
  answeredAt: number,
  details: DetailColumns | null = null,
): WrittenColumns | null {
  if (row?.ended && row.stateAt !== null && !after.ended) return null;
  return { ...written(row, { created: answeredAt, after, before: null }), ...details };
}

function written(row: SubscriptionRow | null, { created, after, before }: ShownState): WrittenColumns {
  return {
    ...after,
    stateAt: created,
    undone: before === null ? null : undoneBy(after, before),
    pastDueSince: after.status === 'past_due' ? startOfGrace(row, { created, before }) : null,
  };
}

/** The grace begins with the event or answer that moves the row to past due, and goes on while the row stays so. */
function startOfGrace(row: SubscriptionRow | null, { created, before }: Pick<ShownState, 'created' | 'before'>) {
  const continues = row?.status === 'past_due' && (before === null || before.status === 'past_due');
  return (continues ? row.pastDueSince : null) ?? new Date(created * 1000);
}

/**
 * A late event changes no state. But where it shows that the subscription was not past due after the start of the
 * grace, the failure is a newer one: its grace begins with the state that the row shows.
 */
function afterRecovery(
  row: SubscriptionRow,
  stateAt: number,
  { created, after, before }: ShownState,
): WrittenColumns | null {
  if (row.pastDueSince === null || created * 1000 <= row.pastDueSince.getTime()) return null;
  const showsOther = after.status !== 'past_due' || (before !== null && before.status !== 'past_due');
  return showsOther ? { pastDueSince: new Date(stateAt * 1000) } : null;
}

/** Returns the columns that a change changed, as they were before it, as JSON writes them. */
function undoneBy(after: StateColumns, before: StateColumns): NonNullable<SubscriptionRow['undone']> {
  const names = Object.keys(after) as (keyof StateColumns)[];
  const changed = names.filter((name) => plain(before[name]) !== plain(after[name]));
  return Object.fromEntries(changed.map((name) => [name, plain(before[name])]));
}

/** Whether a row's columns are those of a state. */
export function isSame(row: Partial<Record<keyof StateColumns, unknown>>, columns: Partial<StateColumns>): boolean {
  return Object.entries(columns).every(([name, value]) => plain(row[name as keyof StateColumns]) === plain(value));
}

function plain(value: unknown): string | number | boolean | null {
  return value instanceof Date ? value.toISOString() : ((value ?? null) as string | number | boolean | null);
}
