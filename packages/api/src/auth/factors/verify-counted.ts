import type { App } from '../../app.ts';
import { isAppError } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import { clientSignInLimits, countFailures } from '../../platform/security/throttle.ts';
import { refusedPasskey, type TypedPasskey, type VerifiedPasskey, verifyPasskey } from './passkeys.ts';

/**
 * Verifies a passkey; a refused one counts in the client's limit of sign-in.
 *
 * @throws AppError UNAUTHENTICATED if it is not accepted; TOO_MANY.
 */
export async function verifyCounted(
  app: App,
  passkey: TypedPasskey,
  challengeCookie: string | null,
  client: Client,
): Promise<VerifiedPasskey> {
  const { verified } = await countFailures(app.throttle, clientSignInLimits(client), async () => {
    try {
      return { verified: await verifyPasskey(app, passkey, challengeCookie), right: true };
    } catch (error) {
      if (isAppError(error) && error.code === 'UNAUTHENTICATED') return { verified: null, right: false };
      throw error;
    }
  });
  if (verified === null) throw refusedPasskey();
  return verified;
}
