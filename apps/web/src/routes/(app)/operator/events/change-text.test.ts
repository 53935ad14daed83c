import { readEventChange } from '@gatehouse/api/operators/events/event-change';
import { expect, test } from 'vitest';
import { changeText } from './change-text.ts';

const item = { price: { id: 'price_s', lookup_key: 'silver_monthly' }, current_period_end: 86_400 };
const subscription = { id: 'sub_1', customer: 'cus_1', status: 'past_due', cancel_at: null, items: { data: [item] } };
const gold = { ...item, price: { id: 'price_g', lookup_key: 'gold_monthly' } };

test.each([
  ['no change', { object: subscription }, 'Status past due'],
  ['a status', { object: subscription, previous_attributes: { status: 'active' } }, 'Status past due, was active'],
  [
    'a price',
    { object: subscription, previous_attributes: { items: { data: [gold] } } },
    'Status past due; price silver_monthly, was gold_monthly',
  ],
  [
    'an end',
    { object: { ...subscription, cancel_at: 86_400 }, previous_attributes: { cancel_at: null } },
    'Status past due; ends on 2 January 1970',
  ],
  [
    'a withdrawn end',
    { object: subscription, previous_attributes: { cancel_at: 86_400 } },
    'Status past due; no longer ends',
  ],
  [
    'a new period',
    { object: subscription, previous_attributes: { items: { data: [{ ...item, current_period_end: 0 }] } } },
    'Status past due; period until 2 January 1970',
  ],
])('the text of an event about a subscription says %s', (_, data, words) => {
  expect(textOf('customer.subscription.updated', data)).toBe(words);
});

test.each([
  ['invoice.created', 'open', 'gbp', '£24.00 due'],
  ['invoice.created', 'open', 'jpy', 'JP¥2,400 due'],
  ['invoice.payment_failed', 'open', 'gbp', '£24.00 due'],
  ['invoice.paid', 'paid', 'gbp', '£20.00 paid'],
  ['invoice.updated', 'paid', 'gbp', '£20.00 paid'],
])('the text of %s with an invoice that is %s, in %s, is "%s"', (type, status, currency, words) => {
  expect(textOf(type, { object: { status, amount_due: 2400, amount_paid: 2000, currency } })).toBe(words);
});

function textOf(type: string, data: object): string | null {
  const change = readEventChange(type, JSON.stringify({ data }));
  return change && changeText(change);
}

test('a dispute is told by its amount, status and reason', () => {
  const change = {
    kind: 'money' as const,
    amount: 2400,
    currency: 'gbp',
    status: 'needs_response',
    reason: 'fraudulent',
  };
  expect(changeText(change)).toBe('£24.00, needs response, fraudulent');
  expect(changeText({ ...change, amount: null, status: null })).toBe('fraudulent');
});
