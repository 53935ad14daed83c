import { describe, expect, test } from 'vitest';
import { objectBefore, parseEvent, referencesOf } from './event.ts';
import { isEnded, readSubscriptionState } from './subscription-state.ts';

const event = { object: 'event', id: 'evt_1', type: 'invoice.paid', created: 5, data: { object: {} } };

test.each([
  null,
  'text',
  [],
  {},
  { ...event, object: 'charge' },
  { ...event, id: 7 },
  { ...event, id: 'evt_\u0000' },
  { ...event, type: '' },
  { ...event, created: 'now' },
  { ...event, created: 1e20 },
  { ...event, data: {} },
])('a value that is not an event gives null: %j', (value) => {
  expect(parseEvent(value)).toBeNull();
});

describe('the objects that an event names', () => {
  function references(type: string, object: object) {
    const read = parseEvent({ ...event, type, data: { object } });
    return read && referencesOf(read, null);
  }

  test('an invoice names its subscription by its parent', () => {
    const object = { id: 'in_1', customer: 'cus_1', parent: { subscription_details: { subscription: 'sub_1' } } };
    expect(references('invoice.paid', object)).toMatchObject({
      customerId: 'cus_1',
      subscriptionId: 'sub_1',
      invoiceId: 'in_1',
    });
  });

  test('an invoice of an older API version names it directly', () => {
    expect(references('invoice.paid', { id: 'in_1', subscription: { id: 'sub_1' } })).toMatchObject({
      subscriptionId: 'sub_1',
    });
  });

  test('a checkout names customer, subscription and organisation', () => {
    const object = {
      id: 'cs_1',
      customer: 'cus_1',
      subscription: 'sub_1',
      client_reference_id: 'o',
      metadata: { organisation: 'o' },
    };
    expect(references('checkout.session.completed', object)).toEqual({
      customerId: 'cus_1',
      subscriptionId: 'sub_1',
      invoiceId: null,
      organisations: ['o', 'o'],
    });
  });

  test('a customer event names its own id as the customer', () => {
    expect(references('customer.deleted', { id: 'cus_1' })).toMatchObject({
      customerId: 'cus_1',
      subscriptionId: null,
    });
  });

  test('a subscription that is read already names the same objects as its event', () => {
    const object = { id: 'sub_1', customer: { id: 'cus_1' }, status: 'active', metadata: { organisation: 'o' } };
    const read = parseEvent({ ...event, type: 'customer.subscription.updated', data: { object } });
    const named = references('customer.subscription.updated', object);
    expect(named).toMatchObject({ customerId: 'cus_1', subscriptionId: 'sub_1', organisations: ['o'] });
    expect(read && referencesOf(read, readSubscriptionState(object))).toEqual(named);
  });

  test('a subscription event names its own id as the subscription', () => {
    expect(references('customer.subscription.updated', { id: 'sub_1', customer: { id: 'cus_1' } })).toMatchObject({
      customerId: 'cus_1',
      subscriptionId: 'sub_1',
    });
  });
});

const least = { id: 'sub_1', customer: 'cus_1', status: 'active' };
const read = (more: object) => readSubscriptionState({ ...least, ...more });

describe('a subscription in any version of the provider’s API', () => {
  test('its period is that of the item whose period ends first', () => {
    const periods = [
      { current_period_start: 20, current_period_end: 300 },
      { current_period_start: 10, current_period_end: 200 },
    ];
    const state = read({ items: { data: periods }, current_period_start: 1, current_period_end: 999 });
    expect(state).toMatchObject({ currentPeriodStart: 10, currentPeriodEnd: 200 });
  });

  test('its period is its own in older versions', () => {
    const period = { current_period_start: 1, current_period_end: 999 };
    const state = read({ items: { data: [{ id: 'si_1' }] }, ...period });
    expect(state).toMatchObject({ currentPeriodStart: 1, currentPeriodEnd: 999 });
  });

  test.each([
    ['neither form', {}, false, null],
    ['the flag', { cancel_at_period_end: true }, true, 200],
    ['a moment', { cancel_at: 150 }, true, 150],
    ['both', { cancel_at_period_end: true, cancel_at: 150 }, true, 150],
  ])('a scheduled end: %s', (_, given, scheduled, endsAt) => {
    const state = read({ items: { data: [{ current_period_end: 200 }] }, ...given });
    expect([state?.scheduled, state?.endsAt]).toEqual([scheduled, endsAt]);
  });

  test('its price may be an id, an object, or the plan of older versions', () => {
    const first = (item: object) => read({ items: { data: [item] } })?.items[0];
    expect(first({ price: 'price_1' })?.priceId).toBe('price_1');
    expect(first({ price: { id: 'price_1', lookup_key: 'key', product: { id: 'prod_1' } } })).toMatchObject({
      priceId: 'price_1',
      lookupKey: 'key',
      productId: 'prod_1',
    });
    expect(first({ plan: { id: 'price_1', product: 'prod_1' } })).toMatchObject({
      priceId: 'price_1',
      productId: 'prod_1',
    });
  });

  test('its customer may be expanded', () => {
    expect(read({ customer: { id: 'cus_2' } })?.customerId).toBe('cus_2');
  });

  test.each([null, 'text', [], {}, { ...least, status: 7 }, { ...least, id: '' }, { ...least, customer: null }])(
    'is null if it cannot be read: %j',
    (value) => {
      expect(readSubscriptionState(value)).toBeNull();
    },
  );

  test('values that PostgreSQL could not store are left out', () => {
    const state = read({ metadata: { tier: 'a\u0000b' }, cancel_at: 1e300, current_period_end: -5, created: 1.5 });
    expect(state).toMatchObject({ metadata: { tier: null }, cancelAt: null, currentPeriodEnd: null, createdAt: null });
  });
});

test.each([
  ['canceled', true],
  ['incomplete_expired', true],
  ['past_due', false],
  ['active', false],
  ['on_holiday', false],
])('%s counts as ended: %s', (status, ended) => {
  expect(isEnded({ status })).toBe(ended);
});

test('an object before a change has of a hash its changed members, and of an array all of it', () => {
  const after = { status: 'active', items: { data: [2] }, metadata: { tier: 'gold', note: 'x' }, cancel_at: 5 };
  const previous = { status: 'past_due', items: { data: [1] }, metadata: { tier: 'silver' }, cancel_at: null };
  expect(objectBefore(after, previous)).toEqual({
    status: 'past_due',
    items: { data: [1] },
    metadata: { tier: 'silver', note: 'x' },
    cancel_at: null,
  });
});
