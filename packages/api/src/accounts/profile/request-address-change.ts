import { z } from 'zod';
import type { App } from '../../app.ts';
import { invalid } from '../../errors.ts';
import { emailField } from '../../security/address.ts';
import type { Client } from '../../security/client.ts';
import { type Principal, requireApproved } from '../../sessions/principal.ts';
import { confirmPassword } from '../password/confirm-password.ts';

export const changeAddressInput = z.object({
  email: emailField,
  password: z.string({ error: 'Enter your password.' }).min(1, 'Enter your password.'),
});

/**
 * Has a verification link mailed to the address that a person wants to have. Nothing
 * changes until it is opened. What is done here is the same for every address: the job
 * decides, so that nobody learns whether the new one has an account.
 *
 * @throws AppError UNAUTHENTICATED for a wrong password; VALIDATION for the person's own address; TOO_MANY.
 */
export async function changeAddress(
  app: App,
  principal: Principal | null,
  { email, password }: z.output<typeof changeAddressInput>,
  client: Client,
): Promise<void> {
  const who = requireApproved(principal);
  await confirmPassword(app, who, { field: 'password', password }, client);
  if (email === who.user.email) throw invalid({ email: 'This is your address already.' });

  await app.db.transaction((tx) =>
    app.jobs.send(tx, 'verification-mail', { email, userId: who.user.id, sessionId: who.sessionId }),
  );
  app.jobs.wake('verification-mail');
}
