import type { App } from '../../app.ts';
import { invalid } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { type Password, passwordFault } from '../../platform/security/password-rules.ts';

/**
 * Requires that a new password is neither common, nor made of the address or the service's name, nor known from a data
 * breach where BREACHED_PASSWORDS_URL is set. A look-up that fails refuses nobody: it is logged and counted.
 *
 * @throws AppError VALIDATION, with the field `password`.
 */
export async function requireNewPassword(app: App, password: Password, email: string): Promise<void> {
  const fault = await passwordFault(password, [email, app.config.service.name]);
  if (fault !== null) throw invalid({ password: fault });

  const isBreached = await app.isBreached?.(password).catch((error: unknown) => {
    app.log.warn('a new password was not looked up among breached ones', { error });
    return false;
  });
  if (isBreached) throw invalid({ password: message('password_breached') });
}
