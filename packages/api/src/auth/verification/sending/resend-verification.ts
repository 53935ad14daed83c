import { z } from 'zod';
import type { App } from '../../../app.ts';
import { emailField } from '../../../platform/security/address.ts';
import type { MailLanguage } from '../../../platform/security/client.ts';

export const resendInput = z.object({ email: emailField });

/**
 * Enqueues a mail with a new verification link. The job mails it if the address has an account that
 * is not closed; a verified user can set a new password by it. The work here is the same for every
 * address, so that the answer reveals nothing. Requests of a known browser have mail limits of
 * their own.
 */
export async function resendVerification(
  app: App,
  { email }: z.output<typeof resendInput>,
  { fromKnownBrowser = false, language }: { fromKnownBrowser?: boolean; language?: MailLanguage } = {},
): Promise<void> {
  await app.db.transaction((tx) => app.jobs.send(tx, 'verification-mail', { email, fromKnownBrowser, language }));
  app.jobs.wake('verification-mail');
}
