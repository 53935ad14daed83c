import type { App } from '../app.ts';
import { isAppError } from '../errors.ts';

/**
 * Runs a sign-in and counts it by its outcome: ok, the code of the AppError, or failed.
 *
 * @throws what the sign-in throws.
 */
export async function recordSignIn<Result>(
  { metrics }: App,
  way: 'password' | 'identity_provider',
  attempt: () => Promise<Result>,
): Promise<Result> {
  let outcome = 'ok';
  try {
    return await attempt();
  } catch (error) {
    outcome = isAppError(error) ? error.code.toLowerCase() : 'failed';
    throw error;
  } finally {
    metrics.count('gatehouse_sign_ins_total', { way, outcome });
  }
}
