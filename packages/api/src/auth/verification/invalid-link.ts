import { AppError } from '../../platform/errors.ts';

/** Returns the AppError VALIDATION for a verification link that is unknown, used, expired or of no use to its account. */
export function invalidLink(): AppError {
  return new AppError('VALIDATION', 'This link is not valid.');
}
