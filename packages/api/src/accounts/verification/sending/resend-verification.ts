import { z } from 'zod';
import type { App } from '../../../app.ts';
import { emailField } from '../../../security/address.ts';

export const resendInput = z.object({ email: emailField });

/**
 * Has a fresh verification link mailed where the address has an account that is not closed:
 * a verified one can choose a new password by it. What is done here is the same for every
 * address: the job decides. Requests of a browser that signed in to the account before have
 * mail limits of their own.
 */
export async function resendVerification(
  app: App,
  { email }: z.output<typeof resendInput>,
  { fromKnownBrowser = false } = {},
): Promise<void> {
  await app.db.transaction((tx) => app.jobs.send(tx, 'verification-mail', { email, fromKnownBrowser }));
  app.jobs.wake('verification-mail');
}
