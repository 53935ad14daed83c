import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Client } from '../../platform/security/client.ts';
import { consumeOneTimeToken, linkNoLongerValid } from '../password/one-time-token.ts';
import { applyAddressChange } from './apply-address-change.ts';
import { linkOfPageToken } from './link-of-page-token.ts';

export const confirmAddressChangeInput = z.object({ token: z.string({ error: linkNoLongerValid }) });

/**
 * Changes the address of a user by the form on the page of the link that went to the new
 * one, and ends the other sessions.
 *
 * @throws AppError VALIDATION if the token is unknown, used or expired, the account is closed, or
 *   the address belongs to another one.
 */
export async function confirmAddressChange(
  app: App,
  { token }: z.output<typeof confirmAddressChangeInput>,
  client: Client,
) {
  await app.db.transaction(async (tx) => {
    const { link } = await linkOfPageToken(tx, await consumeOneTimeToken(app, tx, token, ['change-address']));
    await applyAddressChange(app, tx, link, client);
  });
}
