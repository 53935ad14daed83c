import type { App } from '../../app.ts';
import { isAppError } from '../../platform/errors.ts';

/**
 * Runs what proves a user's identity, and counts the sign-in by its outcome: ok, the code of the AppError, or failed.
 *
 * @throws what the proof throws.
 */
export async function countSignIn<Result>(
  { metrics }: App,
  way: 'password' | 'passkey' | 'identity_provider',
  prove: () => Promise<Result>,
): Promise<Result> {
  let outcome = 'ok';
  try {
    return await prove();
  } catch (error) {
    outcome = isAppError(error) ? error.code.toLowerCase() : 'failed';
    throw error;
  } finally {
    metrics.count('gatehouse_sign_ins_total', { way, outcome });
  }
}
