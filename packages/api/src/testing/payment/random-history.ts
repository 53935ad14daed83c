import fc from 'fast-check';
import { trialEndPause } from '../../platform/providers/payment/subscription-state.ts';
import { type Fields, fields } from '../../platform/providers/untrusted-json.ts';

/** An event that shows the state of a subscription, and the values before its change. */
export type StateEvent = {
  id: string;
  /** The provider's clock, in whole seconds. */
  created: number;
  object: Fields;
  /** Null for an event that shows a state but no change. */
  previous: Fields | null;
};

/**
 * The history of a subscription at the provider, for property tests. Several changes may have the
 * same second, two events may report one change, and an event may report no change.
 */
export type History = {
  /** In order. */
  events: StateEvent[];
  /** The subscription after the last event. */
  lastObject: Fields;
};

type Step = { change: (object: Fields) => Fields; gapSeconds: number; reported: 'once' | 'twice' | 'as it is' };

const statuses = ['incomplete', 'trialing', 'active', 'past_due', 'past_due', 'unpaid', 'paused', 'something_new'];

const change = fc.oneof(
  fc.constantFrom(...statuses).map((status) => (object: Fields) => ({ ...object, status })),
  fc.boolean().map((flag) => (object: Fields) => ({ ...object, cancel_at_period_end: flag })),
  fc.constantFrom(null, 5000, 6000).map((cancelAt) => (object: Fields) => ({ ...object, cancel_at: cancelAt })),
  fc.constantFrom('price_a', 'price_b').map((price) => (object: Fields) => ({ ...object, items: itemsOf(price) })),
  fc.constantFrom(null, 'pause_requested', trialEndPause).map((reason) => (object: Fields) => ({
    ...object,
    status: reason === null ? 'active' : 'paused',
    status_details: reason === null ? null : { paused: { type: 'subscription', subscription: { type: reason } } },
  })),
  fc.constantFrom(null, 'For Mia', 'For Nils').map((description) => (object: Fields) => ({ ...object, description })),
  fc.constantFrom(null, 'sub_sched_1').map((schedule) => (object: Fields) => ({ ...object, schedule })),
  fc
    .constantFrom('in_1', 'in_2', { id: 'in_2', object: 'invoice' })
    .map((invoice) => (object: Fields) => ({ ...object, latest_invoice: invoice })),
  fc
    .constantFrom(null, 'silver', 'gold')
    .map((tier) => (object: Fields) => ({ ...object, metadata: { ...fields(object.metadata), tier } })),
);

const step: fc.Arbitrary<Step> = fc.record({
  change,
  gapSeconds: fc.constantFrom(0, 0, 0, 1, 60),
  reported: fc.constantFrom('once', 'once', 'once', 'twice', 'as it is'),
});

export const history: fc.Arbitrary<History> = fc
  .record({
    steps: fc.array(step, { maxLength: 12 }),
    cancelled: fc.boolean(),
    // Ids in random order, because nothing may depend on them.
    ids: fc.uniqueArray(fc.integer({ min: 0, max: 0xffffff }), { minLength: 30, maxLength: 30 }),
  })
  .map(({ steps, cancelled, ids }) => buildHistory(steps, cancelled, ids));

function buildHistory(steps: Step[], cancelled: boolean, ids: number[]): History {
  const events: StateEvent[] = [];
  let object: Fields = {
    id: 'sub_1',
    customer: 'cus_1',
    status: 'incomplete',
    created: 1000,
    cancel_at_period_end: false,
    cancel_at: null,
    items: itemsOf('price_a'),
    metadata: {},
  };
  let created = 1000;

  function add(previous: Fields | null) {
    const number = events.length + 1;
    events.push({ id: `evt_${ids[number]?.toString(16).padStart(6, '0')}`, created, object, previous });
  }

  add(null);
  const end: Step[] = [{ change: (now) => ({ ...now, status: 'canceled' }), gapSeconds: 0, reported: 'once' }];
  for (const { change, gapSeconds, reported } of cancelled ? [...steps, ...end] : steps) {
    const before = object;
    object = change(before);
    created += gapSeconds;
    if (canonical(before) === canonical(object)) continue;

    const previous = differenceTo(before, object);
    add(previous);
    if (reported === 'twice') add(previous);
    if (reported === 'as it is') add(null);
  }
  return { events, lastObject: object };
}

function itemsOf(price: string): Fields {
  const item = { id: 'si_1', quantity: 1, price: { id: price, product: 'prod_1' }, current_period_end: 9000 };
  return { object: 'list', data: [item] };
}

/**
 * Returns what `previous_attributes` contains: of an object its changed properties, of any other
 * value the whole value.
 */
function differenceTo(before: Fields, after: Fields): Fields {
  const difference: Fields = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    // Most values are the same object in both: to write them as text took most of the time of the property tests.
    if (before[name] === after[name] || canonical(before[name]) === canonical(after[name])) continue;
    const then = fields(before[name]);
    const now = fields(after[name]);
    difference[name] = then !== null && now !== null ? differenceTo(then, now) : (before[name] ?? null);
  }
  return difference;
}

/** Returns the same text for all equal objects: members are sorted, and null equals absent. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const object = fields(value);
  if (object === null) return JSON.stringify(value) ?? 'null';

  const members = Object.keys(object)
    .filter((name) => object[name] !== null && object[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(object[name])}`);
  return `{${members.join()}}`;
}
