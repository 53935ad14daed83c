import { and, eq, gt } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { type Ended, revokeKeysField } from '../../organisations/started.ts';
import { oneTimeTokens, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import { verifyPassword } from '../../platform/security/password.ts';
import { countFailures, passwordLimits } from '../../platform/security/throttle.ts';
import { hashToken } from '../../platform/security/token.ts';
import { wrongPassword } from '../password/confirm-password.ts';
import { consumeOneTimeToken, linkNoLongerValid } from '../password/one-time-token.ts';
import { readWhatLinksEnd, unlinkIdentities } from '../password/set-password.ts';
import { accountById } from '../sessions/account.ts';
import { applyAddressChange } from './apply-address-change.ts';
import { linkOfPageToken } from './link-of-page-token.ts';

export const addressChangeTokenInput = z.object({ token: z.string({ error: linkNoLongerValid }) });

export const confirmAddressChangeInput = addressChangeTokenInput.extend({
  /** The password of the account whose address changes. */
  password: z.string({ error: 'Enter your password.' }).min(1, 'Enter your password.'),
  /** Keeps the connected identity, which the page names. */
  keep_identity: z.boolean().optional(),
  revoke_keys: revokeKeysField,
});

/**
 * Changes the address of a user by the form on the page of the link that went to the new one, with the password of that
 * account: a link alone proves only that its mail arrived. Ends every session, unlinks a connected identity unless it is
 * kept, and opens no session. Wrong passwords are failures of sign-in, and leave the form as it was. Returns what ended.
 *
 * @throws AppError VALIDATION if the token is unknown, used or expired, the account is closed, or the address is taken;
 *   UNAUTHENTICATED with the field `password` if it is wrong; TOO_MANY; BUSY if too many passwords are being hashed.
 */
export async function confirmAddressChange(
  app: App,
  input: z.output<typeof confirmAddressChangeInput>,
  client: Client,
): Promise<Ended> {
  const { token, password, keep_identity: keepsIdentity, revoke_keys: revokesKeys } = input;
  const { user } = (await ownerOf(app, token)).account;
  const limits = passwordLimits({ email: user.email, client, knownAs: null });
  const { right } = await countFailures(app.throttle, limits, async () => ({
    right: await verifyPassword(user.passwordHash, password, client),
  }));
  if (!right) {
    await recordAudit(app.db, app.now(), { action: 'password-check-failed', userId: user.id, client });
    throw wrongPassword('password');
  }

  return app.db.transaction(async (tx) => {
    const { link, account } = await linkOfPageToken(tx, await consumeOneTimeToken(app, tx, token, ['change-address']));
    if (account.user.passwordHash !== user.passwordHash) throw wrongPassword('password');
    const ended = await applyAddressChange(app, tx, link, { kept: null, revokesKeys, client });
    if (!keepsIdentity) await unlinkIdentities(app, tx, account.user.id, client);
    return ended;
  });
}

/**
 * Returns what the form would change, for the page that asks: the new address, the account as it is now, and what ends.
 *
 * @throws AppError VALIDATION if the token is unknown, used or expired, or the account is closed.
 */
export async function readAddressChangeToken(app: App, { token }: z.output<typeof addressChangeTokenInput>) {
  const { account, email } = await ownerOf(app, token);
  const [organisation] = await app.db
    .select({ name: organisations.name, slug: organisations.slug })
    .from(organisations)
    .where(eq(organisations.id, account.organisationId ?? account.user.id));
  return {
    email,
    account: { email: account.user.email, organisation: organisation ?? null },
    has_password: account.user.passwordHash !== null,
    ...(await readWhatLinksEnd(app, account.user.id)),
  };
}

/** Reads the token's account and new address without consuming the token, so that a wrong password leaves it valid. */
async function ownerOf(app: App, token: string) {
  const [held] = await app.db
    .select({ userId: oneTimeTokens.userId, email: verificationLinks.email })
    .from(oneTimeTokens)
    .innerJoin(verificationLinks, eq(verificationLinks.tokenHash, oneTimeTokens.linkHash))
    .where(
      and(
        eq(oneTimeTokens.tokenHash, hashToken(token)),
        eq(oneTimeTokens.purpose, 'change-address'),
        gt(oneTimeTokens.expiresAt, app.now()),
      ),
    );
  const account = held === undefined ? null : await accountById(app.db, held.userId);
  if (held === undefined || account === null || account.accountStatus === 'closed') {
    throw new AppError('VALIDATION', linkNoLongerValid);
  }
  return { account, email: held.email };
}
