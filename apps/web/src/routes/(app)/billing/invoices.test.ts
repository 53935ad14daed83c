import { expect, test } from 'vitest';
import { collectedNext, daysUntilDue, hasInvoices, isPayable, monthText, stateText } from './invoices.ts';

const now = '2026-11-27T12:00:00.000Z';
const due = (day: string, state = 'open') => ({ state, due: `${day}T12:00:00.000Z` });

test.each([
  ['2026-12-09', 12],
  ['2026-11-28', 1],
  ['2026-11-27', 0],
  ['2026-11-26', -1],
])('an open invoice that is due on %s has %s days', (day, days) => {
  expect(daysUntilDue(due(day), now)).toBe(days);
  expect(stateText(due(day), now).text).toBe(days < 0 ? 'Overdue' : 'Open');
});

test('only an open invoice that is sent has days', () => {
  expect(daysUntilDue({ state: 'open', due: null }, now)).toBeNull();
  expect(daysUntilDue(due('2026-12-09', 'paid'), now)).toBeNull();
});

test('an open invoice that is not due yet is no warning, and one that is charged is', () => {
  expect(stateText(due('2026-12-09'), now).tone).toBe('accent');
  expect(stateText({ state: 'open', due: null }, now).tone).toBe('warn');
  expect(stateText(due('2026-11-01'), now).tone).toBe('bad');
});

test('a state that is unknown is shown as it is', () => {
  expect(stateText({ state: 'deferred', due: null }, now)).toEqual({ tone: 'plain', text: 'deferred' });
});

test('open and uncollectible invoices can be paid on their page', () => {
  const states = ['open', 'uncollectible', 'paid', 'void'];
  expect(states.filter((state) => isPayable({ state }))).toEqual(['open', 'uncollectible']);
});

test('the month of a card is two digits and a year', () => {
  expect(monthText('2030-04')).toBe('04/2030');
});

const shown = {
  invoices: [],
  next: { at: now, amount: 2400, currency: 'gbp', due: null },
  method: null,
  as_of: now,
  is_current: true,
};
type Plan = Parameters<typeof collectedNext>[1];

test.each([
  ['active', false, true],
  ['trialing', false, true],
  ['past_due', false, true],
  ['active', true, false],
  ['unpaid', false, false],
  ['paused', false, false],
])('a next invoice of a plan that is %s, with collection paused %s, is shown: %s', (status, collection_paused, is) => {
  expect(collectedNext(shown, { status, collection_paused } as Plan) !== null).toBe(is);
});

test('a customer without an invoice and without a method sees no section', () => {
  expect(hasInvoices({ ...shown, next: null })).toBe(false);
  expect(hasInvoices({ ...shown, next: null, invoices: null })).toBe(true);
  expect(hasInvoices(shown)).toBe(true);
});
