import { subscribedTypes } from '@gatehouse/api/billing/events/event-handlers';
import { expect, test } from 'vitest';
import { eventName } from './event-text.ts';

test.each(subscribedTypes)('the event type %s has a name without dots', (type) => {
  expect(eventName(type)).not.toMatch(/[._]/);
});

test('an unknown event type is shown in words', () => {
  expect(eventName('tax_rate.updated')).toBe('Tax rate updated');
  expect(eventName('__proto__')).toBe('Proto');
});
