import { expect, test } from 'vitest';
import { commandsFor } from './commands.ts';

test('without a text the menu offers every page of the console', () => {
  expect(commandsFor('').map(({ href }) => href)).toEqual(expect.arrayContaining(['/operator', '/operator/decided']));
});

test('a text finds pages by a part of their name, and is offered as a search', () => {
  expect(commandsFor('sync & co').map(({ name }) => name)).not.toContain('Requests');
  expect(commandsFor(' SYNC').map(({ name }) => name)).toContain('Subscriptions out of sync');
  expect(commandsFor('a&b')).toContainEqual({ name: 'Find people: a&b', href: '/operator/people?search=a%26b' });
});
