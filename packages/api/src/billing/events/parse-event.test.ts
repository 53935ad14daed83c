import { describe, expect, test } from 'vitest';
import { parseEvent, subjectOf } from './parse-event.ts';

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
  function subject(type: string, object: object) {
    const read = parseEvent({ ...event, type, data: { object } });
    return read && subjectOf(read);
  }

  test('an invoice names its subscription by its parent', () => {
    const object = { id: 'in_1', customer: 'cus_1', parent: { subscription_details: { subscription: 'sub_1' } } };
    expect(subject('invoice.paid', object)).toMatchObject({
      customerId: 'cus_1',
      subscriptionId: 'sub_1',
      invoiceId: 'in_1',
    });
  });

  test('an invoice of an older API version names it directly', () => {
    expect(subject('invoice.paid', { id: 'in_1', subscription: { id: 'sub_1' } })).toMatchObject({
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
    expect(subject('checkout.session.completed', object)).toEqual({
      customerId: 'cus_1',
      subscriptionId: 'sub_1',
      invoiceId: null,
      claims: ['o', 'o'],
    });
  });

  test('a customer event names its own id as the customer', () => {
    expect(subject('customer.deleted', { id: 'cus_1' })).toMatchObject({ customerId: 'cus_1', subscriptionId: null });
  });

  test('a subscription event names its own id as the subscription', () => {
    expect(subject('customer.subscription.updated', { id: 'sub_1', customer: { id: 'cus_1' } })).toMatchObject({
      customerId: 'cus_1',
      subscriptionId: 'sub_1',
    });
  });
});
