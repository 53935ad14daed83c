import { expect, test } from 'vitest';
import { texts } from '#lib/language/texts.ts';
import { unansweredText } from './unanswered-text.ts';

const message = 'Internal Error';

test.each([
  ['no answer while offline', { status: 500, message }, false, 'You are offline. What you typed is still here.'],
  [
    'no answer while online',
    { status: 500, message },
    true,
    'We could not reach the server. What you typed is still here.',
  ],
  [
    'a proxy that has no server',
    { status: 502, message },
    true,
    'We could not reach the server. What you typed is still here.',
  ],
  ['a busy server', { status: 503, message }, true, 'The server is too busy right now. What you typed is still here.'],
  [
    'a failure of the service',
    { status: 500, message, requestId: 'a' },
    true,
    'Something went wrong. What you typed is still here.',
  ],
  ['a body that is too large', { status: 413, message }, true, null],
])('%s', (_, error, online, text) => {
  expect(unansweredText(error, online, texts('form').kept)).toBe(text);
});
