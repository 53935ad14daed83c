import { expect, test } from 'vitest';
import { AppError, explainDatabaseFailure, foreignFailure, isDatabaseUnavailable, toAppError } from './errors.ts';

const coded = (code: string) => Object.assign(new Error(`connect ${code}`), { code });

test.each([
  ['the driver', coded('ECONNREFUSED'), true],
  ['a statement', new Error('Failed query', { cause: coded('ECONNRESET') }), true],
  ['a request that it failed', toAppError(coded('57P01')), true],
  ['another system', foreignFailure('The mail server did not take the mail', coded('ECONNREFUSED')), false],
  ['a client that went away', new AppError('VALIDATION', 'Short.', { cause: coded('ECONNRESET') }), false],
  [
    'a request that the payment provider failed',
    new AppError('PROVIDER_UNAVAILABLE', 'Away.', { cause: foreignFailure('payment provider', coded('ETIMEDOUT')) }),
    false,
  ],
])('an error of %s names the database, or does not', (_, error, isUnavailable) => {
  expect(isDatabaseUnavailable(error)).toBe(isUnavailable);
  expect(explainDatabaseFailure(error) !== null).toBe(isUnavailable);
});

test('an expired certificate of another system is not the database’s', () => {
  expect(explainDatabaseFailure(coded('CERT_HAS_EXPIRED'))).toContain('DATABASE_URL');
  expect(explainDatabaseFailure(foreignFailure('payment provider', coded('CERT_HAS_EXPIRED')))).toBeNull();
});
