import type { App } from '../../app.ts';
import type { paymentKnownPrices, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { type Fields, toDate } from '../../platform/providers/untrusted-json.ts';
import type { PaidTier } from '../plans/plans.ts';
import { type FirstPastDueAnswer, type Run, runOf, startOfGrace } from './past-due-run.ts';
import { isEnded, parseSnapshot, readSubscriptionState, type SubscriptionState } from './provider-objects.ts';
import { lastOfSecond } from './same-second.ts';

export type SubscriptionRow = typeof paymentSubscriptions.$inferSelect;

/** Everything from which a subscription's row is computed. */
export type ProjectionInput = {
  /** The row as it is stored; null if there is none. */
  row: SubscriptionRow | null;
  events: StateEvent[];
  prices: KnownPrice[];
};

/** The columns of a subscription's row that its snapshot and its stored events decide. */
export type ComputedColumns = Pick<
  SubscriptionRow,
  | 'status'
  | 'ended'
  | 'tier'
  | 'tierSource'
  | 'priceId'
  | 'cancelAtPeriodEnd'
  | 'currentPeriodStart'
  | 'currentPeriodEnd'
  | 'endsAt'
  | 'startedAt'
  | 'pastDueSince'
>;

export type RecomputedRow = {
  columns: ComputedColumns;
  /** False if the events permit another state: the row needs a sync. */
  certain: boolean;
  /** A price that the subscription shows for the first time. */
  newPrice: typeof paymentKnownPrices.$inferInsert | null;
};

/** Computes a subscription's row from its snapshot and its stored events. Null if there is neither. */
export function recompute(app: App, { row, events, prices }: ProjectionInput): RecomputedRow | null {
  const decided = decide(row && snapshotOf(row), project(events, row?.settledNumber ?? 0));
  if (decided === null) return null;

  const { state, pastDueSince, certain } = decided;
  const ended = isEnded(state);
  const { tier, source, priceId } = matchTier(state, prices, app.plans.priceNames);
  const productId = state.items.find((item) => item.priceId === priceId)?.productId ?? null;
  const isNew = source === 'lookup_key' && priceId !== null && tier !== null;
  return {
    columns: {
      status: state.status,
      ended,
      tier,
      tierSource: source,
      priceId,
      cancelAtPeriodEnd: !ended && state.scheduled,
      currentPeriodStart: ended ? null : toDate(state.currentPeriodStart),
      currentPeriodEnd: ended ? null : toDate(state.currentPeriodEnd),
      endsAt: ended ? null : toDate(state.endsAt),
      startedAt: toDate(state.createdAt),
      pastDueSince,
    },
    certain,
    newPrice: isNew ? { priceId, productId, tier } : null,
  };
}

export type Snapshot = FirstPastDueAnswer & { state: SubscriptionState; number: number };

type DecidedState = { state: SubscriptionState; certain: boolean; pastDueSince: Date | null };

/**
 * Decides between the provider's answer and the events. The answer wins unless the deciding
 * event was stored after the provider was asked. An end wins in any case, whichever of them
 * shows it, and a first state never replaces an answer of a later state (docs/decisions/019). Null
 * if there is neither.
 */
export function decide(snapshot: Snapshot | null, projection: Projection | null): DecidedState | null {
  const isDue = Boolean(snapshot?.pastDueSince ?? projection?.pastDueSince);
  const pastDueSince = isDue ? startOfGrace(snapshot, projection) : null;
  const answered = snapshot && {
    state: snapshot.state,
    certain: true,
    pastDueSince: snapshot.state.status === 'past_due' ? pastDueSince : null,
  };
  const shown = projection && {
    ...projection,
    pastDueSince: projection.state.status === 'past_due' ? pastDueSince : null,
  };
  if (answered === null || shown === null) return answered ?? shown;

  if (isEnded(answered.state)) return answered;
  if (isEnded(shown.state)) return shown;
  if (snapshot === null || shown.number <= snapshot.number) return answered;
  return isFirst(shown.state) && !isFirst(answered.state) ? { ...answered, certain: false } : shown;
}

/** Whether the subscription waits for its first payment: no later state leads back to this one. */
function isFirst({ status }: SubscriptionState): boolean {
  return status === 'incomplete';
}

function snapshotOf(row: SubscriptionRow): Snapshot | null {
  if (row.snapshot === null || row.snapshotNumber === null) return null;
  return {
    state: parseSnapshot(row.snapshot),
    number: row.snapshotNumber,
    pastDueSince: row.snapshotPastDueSince,
    pastDueNumber: row.snapshotPastDueNumber,
  };
}

/** A stored event that shows the state of its subscription. */
export type StateEvent = {
  id: string;
  /** Our order of arrival: it decides which events a snapshot can include, never their order at the provider. */
  number: number;
  /** The provider's clock, in whole seconds. */
  created: number;
  /** The subscription as the event shows it. */
  object: Fields;
  /** The values before the change; null for an event that shows a state but no change. */
  previous: Fields | null;
  /** The state that the object shows, if it is read already. */
  state?: SubscriptionState;
};

type Projection = Run & {
  /** The number of the deciding event. */
  number: number;
  state: SubscriptionState;
  /** False if the events permit another state: the provider has to be asked. */
  certain: boolean;
};

/**
 * Computes the state that a set of events shows. The result depends on the set alone, not on
 * order of arrival or duplicates. An ended status wins over all others; otherwise the newest
 * second wins, and within it the state that no other event leaves. Null without readable events.
 *
 * A run of failed payments begins after `settledNumber`: the number of the last event before
 * the provider itself answered that nothing was due, or that late events are of an earlier failure.
 */
export function project(events: Iterable<StateEvent>, settledNumber = 0): Projection | null {
  const parsed = readableEvents(events);
  const ended = parsed.filter((event) => event.state.statusClass === 'ended');
  const decided = lastOf(ended.length > 0 ? ended : parsed);
  if (decided === null) return null;

  const { event, certain } = decided;
  const run = event.state.statusClass === 'past_due' ? runOf(parsed, event, settledNumber) : noRun;
  return { number: event.number, state: event.state, certain: certain || ended.length > 0, ...run };
}

const noRun: Run = { pastDueSince: null, brokenNumber: 0 };

type ParsedEvent = StateEvent & { state: SubscriptionState };

/** Returns the events that show a state, one for each id, sorted by id. */
export function readableEvents(events: Iterable<StateEvent>): ParsedEvent[] {
  const byId = new Map<string, ParsedEvent>();
  for (const event of events) {
    if (byId.has(event.id)) continue;
    const state = event.state ?? readSubscriptionState(event.object);
    if (state !== null) byId.set(event.id, { ...event, state });
  }
  return [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** The event with the last state of the newest second. */
function lastOf(parsed: ParsedEvent[]): { event: ParsedEvent; certain: boolean } | null {
  const second = ofNewestSecond(parsed);
  const last = second.at(-1);
  if (last === undefined) return null;
  if (second.length === 1) return { event: last, certain: true };

  const { event, certain } = lastOfSecond(second);
  return { event: event ?? last, certain };
}

function ofNewestSecond(events: ParsedEvent[]): ParsedEvent[] {
  const newest = events.reduce((latest, { created }) => Math.max(latest, created), -1);
  return events.filter(({ created }) => created === newest);
}

export type KnownPrice = { priceId: string; productId: string | null; tier: PaidTier };
type TierSource = 'price' | 'lookup_key' | 'product' | 'metadata';
type TierMatch = { tier: PaidTier | null; source: TierSource | null; priceId: string | null };
const none: TierMatch = { tier: null, source: null, priceId: null };

/**
 * Finds the tier that a subscription pays for: by an item's price, then by that price's lookup key,
 * then by its product if all known prices of the product are of one tier. Of several paid items the
 * best tier counts. Last come our own metadata, which keep the first tier after a change in the
 * portal. A tier that the plans no longer hold never matches. The tier is null if nothing matches.
 *
 * `names` holds each paid tier's lookup key or price id, in rising rank.
 */
export function matchTier(
  { items, metadata }: Pick<SubscriptionState, 'items' | 'metadata'>,
  allKnown: KnownPrice[],
  names: Record<PaidTier, string>,
): TierMatch {
  const tiers = Object.keys(names);
  const known = allKnown.filter((price) => tiers.includes(price.tier));
  const rank = (tier: PaidTier | null) => (tier === null ? -1 : tiers.indexOf(tier));
  const steps: [TierSource, (item: SubscriptionState['items'][number]) => PaidTier | null][] = [
    ['price', ({ priceId }) => known.find((each) => each.priceId === priceId)?.tier ?? tierOfName(priceId, names)],
    ['lookup_key', ({ lookupKey }) => tierOfName(lookupKey, names)],
    ['product', ({ productId }) => tierOfProduct(productId, known)],
  ];
  const matchOf = (item: SubscriptionState['items'][number]): TierMatch => {
    for (const [source, match] of steps) {
      const tier = match(item);
      if (tier !== null) return { tier, source, priceId: item.priceId };
    }
    return none;
  };
  const paid = items.filter(({ quantity }) => quantity > 0);
  const matches = (paid.length > 0 ? paid : items).map(matchOf);
  const best = matches.reduce((one, other) => (rank(other.tier) > rank(one.tier) ? other : one), none);
  if (best.tier !== null) return best;

  const tier = tiers.find((each) => each === metadata.tier) ?? null;
  return { tier, source: tier === null ? null : 'metadata', priceId: items[0]?.priceId ?? null };
}

function tierOfName(name: string | null, names: Record<PaidTier, string>): PaidTier | null {
  return Object.keys(names).find((tier) => names[tier] === name) ?? null;
}

function tierOfProduct(productId: string | null, known: KnownPrice[]): PaidTier | null {
  if (productId === null) return null;
  const tiers = new Set(known.filter((price) => price.productId === productId).map((price) => price.tier));
  return tiers.size === 1 ? ([...tiers][0] ?? null) : null;
}
