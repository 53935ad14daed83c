import { expect, test } from 'vitest';
import { webhookEvents } from '../../../../sandbox/src/webhook-events.ts';
import { subscribedTypes } from './event-handlers.ts';

test('the demonstration subscribes to the types of events that the service handles', () => {
  expect(webhookEvents.toSorted()).toEqual(subscribedTypes.toSorted());
});
