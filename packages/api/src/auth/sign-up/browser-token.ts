import { createHmac } from 'node:crypto';
import type { App } from '../../app.ts';
import { deploymentSecret } from '../../platform/security/deployment-secret.ts';
import { constantTimeEqual, newToken } from '../../platform/security/token.ts';

/**
 * Returns the token for the browser of a sign-up: the one that an earlier sign-up gave it, for as long as the link of
 * that one may be opened, so that the browser is recognised by the links of them all; else a new one. It is random, dated
 * and signed, because to look it up would tell whether the address of the earlier sign-up has an account.
 */
export async function browserTokenFor(app: App, carried: string | null): Promise<string> {
  const key = Buffer.from(await deploymentSecret(app, 'sign-ups'), 'base64url');
  const sign = (dated: string) => `${dated}.${createHmac('sha256', key).update(dated).digest('base64url')}`;

  const [random = '', at = ''] = (carried ?? '').split('.');
  const age = app.now().getTime() - Number(at);
  const isRecent = age >= 0 && age < app.config.verificationTtlSeconds * 1000;
  if (carried !== null && isRecent && constantTimeEqual(carried, sign(`${random}.${at}`))) return carried;
  return sign(`${newToken(16)}.${app.now().getTime()}`);
}
